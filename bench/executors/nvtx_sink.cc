#include "bench/executors/nvtx_sink.h"

#ifdef KVBENCH_HAS_NVTX
#include <nvtx3/nvToolsExt.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace kvbench {

namespace {

class NvtxSink final : public RangeSink {
 public:
  explicit NvtxSink(nvtxDomainHandle_t domain) : domain_(domain) {
    std::map<std::string_view, uint32_t> categories;
    for (const RangeInfo& info : RangeInfos()) {
      const auto [category, is_new] =
          categories.try_emplace(info.category, static_cast<uint32_t>(categories.size() + 1));
      if (is_new) {
        nvtxDomainNameCategoryA(domain_, category->second, std::string(info.category).c_str());
      }
      nvtxEventAttributes_t& attributes = attributes_[static_cast<size_t>(info.kind)];
      attributes.version = NVTX_VERSION;
      attributes.size = sizeof(nvtxEventAttributes_t);
      attributes.category = category->second;
      attributes.payloadType = NVTX_PAYLOAD_TYPE_INT64;
      attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
      attributes.message.registered =
          nvtxDomainRegisterStringA(domain_, std::string(info.name).c_str());
    }
  }
  NvtxSink(const NvtxSink&) = delete;
  NvtxSink& operator=(const NvtxSink&) = delete;
  ~NvtxSink() override { nvtxDomainDestroy(domain_); }

  void BeginRun(const std::string& label) override {
    nvtxEventAttributes_t mark{};
    mark.version = NVTX_VERSION;
    mark.size = sizeof(mark);
    mark.category = attributes_[static_cast<size_t>(RangeKind::kRun)].category;
    mark.messageType = NVTX_MESSAGE_TYPE_ASCII;
    mark.message.ascii = label.c_str();
    nvtxDomainMarkEx(domain_, &mark);
  }

  void Begin(RangeKind kind, const RangeArgs& args) override {
    nvtxEventAttributes_t& attributes = attributes_[static_cast<size_t>(kind)];
    attributes.payload.llValue = args[0];
    nvtxDomainRangePushEx(domain_, &attributes);
  }

  void End() override { nvtxDomainRangePop(domain_); }

 private:
  nvtxDomainHandle_t domain_;
  std::array<nvtxEventAttributes_t, kNumRangeKinds> attributes_{};  // by kind
};

}  // namespace

std::unique_ptr<RangeSink> MakeNvtxSink() {
  // NVTX itself says whether someone listens: without a tool there is no domain.
  const nvtxDomainHandle_t domain = nvtxDomainCreateA("kvbench");
  return domain == nullptr ? nullptr : std::make_unique<NvtxSink>(domain);
}

}  // namespace kvbench

#else

namespace kvbench {

std::unique_ptr<RangeSink> MakeNvtxSink() { return nullptr; }

}  // namespace kvbench

#endif
