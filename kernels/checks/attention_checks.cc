#include <random>
#include <string>
#include <utility>
#include <vector>

#include "kernels/checks/attention_on_device.h"
#include "kernels/checks/kernel_check.h"

namespace kvbench {

namespace {

using Decode = DeviceAttentionShape::Decode;

const NormalTable& Normals() {
  static const NormalTable table;
  return table;
}

template <typename Run>
KernelCheck Check(const AttentionCaseSpec& spec, const std::string& kind, uint64_t seed,
                  int samples, const Run& run) {
  return {.what = kind + ", " + spec.ToString(),
          .tolerance = DeviceTolerance(spec.kv_type),
          .error = [=](Device& device) {
            std::mt19937_64 random(seed);
            const AttentionCase attention_case(spec, Normals(), random);
            AttentionOnDevice on_device(device, attention_case);
            run(on_device);
            return attention_case.GuardsIntact() ? attention_case.LargestError(samples, random)
                                                 : std::numeric_limits<double>::infinity();
          }};
}

std::string Kind(const DeviceAttentionCase& c) {
  const char* const by = c.decode == Decode::kCores ? "cores"
                         : c.decode == Decode::kMma ? "tensor cores"
                                                    : "the usual kernels";
  return std::string("attention by ") + by + ", stages " + std::to_string(c.cores_stages) +
         ", CTAs " + std::to_string(c.cta_budget);
}

std::vector<AttentionCaseSpec> VllmV1Specs() {
  std::vector<AttentionCaseSpec> specs;
  for (const KvType type : {KvType::kFp16, KvType::kBf16}) {
    for (const int32_t head_dim : {64, 128, 256}) {
      for (const int32_t block_size : {0, 16}) {
        specs.push_back({.kv_type = type,
                         .block_size = block_size,
                         .group = 2,
                         .num_kv_heads = 2,
                         .head_dim = head_dim,
                         .sequences = {{.context = 33}, {.context = 1}}});
      }
    }
  }
  return specs;
}

}  // namespace

std::vector<KernelCheck> AttentionChecks(const AttentionCheckOptions& options) {
  std::vector<DeviceAttentionCase> cases = EveryKernelCases();
  const auto add = [&](const std::vector<DeviceAttentionCase>& more) {
    cases.insert(cases.end(), more.begin(), more.end());
  };
  if (options.combinations) {
    add(DecodeCases(Decode::kCores, options.coverage));
    add(DecodeCases(Decode::kMma, options.coverage));
    add(PromptCases(options.coverage));
    add(OddGroupCases());
  }
  const std::vector<AttentionCaseSpec> vllm_v1 = VllmV1Specs();
  std::vector<KernelCheck> checks;
  checks.reserve(cases.size() + vllm_v1.size());
  for (const DeviceAttentionCase& c : cases) {
    checks.push_back(
        Check(c.spec, Kind(c), checks.size(), options.samples,
              [decode = c.decode, budget = c.cta_budget, stages = c.cores_stages](
                  AttentionOnDevice& on_device) { on_device.Run(decode, budget, stages); }));
  }
  for (const AttentionCaseSpec& spec : vllm_v1) {
    checks.push_back(Check(spec, "vllm_v1", checks.size(), options.samples,
                           [](AttentionOnDevice& on_device) { on_device.RunVllmV1(); }));
  }
  return checks;
}

}  // namespace kvbench
