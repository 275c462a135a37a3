#include "bench/executors/cuda_executor.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "base/error.h"
#include "kernels/kv_layout.h"

namespace kvbench {

namespace {

constexpr int64_t kMiB = int64_t{1} << 20;

DeviceDecoder::Config DecoderConfig(const MeasuredConfig& config, const KvCache& cache,
                                    Ranges* ranges = nullptr) {
  return {.model = config.model,
          .dense = config.dense,
          .bf16 = config.dtype == Dtype::kBf16,
          .max_tokens = config.limits.max_num_batched_tokens,
          .max_sequences = config.max_sequences(),
          .max_positions = config.limits.max_model_len,
          .max_blocks = cache.block_size() > 0 ? cache.capacity_slots() / cache.block_size() : 0,
          .ranges = ranges};
}

std::string Size(int64_t bytes) {
  return bytes >= 1024 * kMiB
             ? fmt::format("{:.1f} GiB",
                           static_cast<double>(bytes) / static_cast<double>(1024 * kMiB))
             : fmt::format("{:.1f} MiB", static_cast<double>(bytes) / static_cast<double>(kMiB));
}

/// What a run allocates on a device.
struct Needed {
  int64_t kv_bytes = 0;
  int64_t rest_bytes = 0;
  int64_t kv_memory = 0;  ///< what --kv-memory says of it
  int64_t kv_slack = 0;   ///< lost to rounding at most

  int64_t total() const { return kv_bytes + rest_bytes; }
};

Needed WhatIsNeeded(const MeasuredConfig& config, const KvCache& cache, Device& device) {
  const KvPlacement placement(config.model, KvTypeOf(config.kv_cache_dtype), cache);
  const int64_t layers = config.model.num_hidden_layers;
  const int64_t unit = device.properties().allocation_unit;
  const int64_t copies =
      cache.acts() ? DeviceCopies::Bytes(placement, layers, config.limits.max_model_len, unit) : 0;
  return {
      .kv_bytes = DevicePools::Bytes(placement, layers, unit),
      .rest_bytes = DeviceDecoder::Bytes(device, DecoderConfig(config, cache), placement) + copies,
      .kv_memory = cache.capacity_slots() * KvBytesPerToken(config.model, config.kv_cache_dtype),
      .kv_slack = 2 * layers * unit};
}

/// The sentence on memory that does not suffice. @param usable bytes of it that can be counted on
std::string NotEnough(const ModelShape& model, const Needed& needed, const Device& device,
                      const std::string& what_failed, int64_t usable) {
  const std::string sentence = fmt::format(
      "model {} needs {} on {} ({} of it KV cache), {}", model.name, Size(needed.total()),
      device.properties().name, Size(needed.kv_bytes), what_failed);
  const int64_t for_kv = usable - needed.rest_bytes - needed.kv_slack;
  // Pools grow with --kv-memory, and nothing else of it does to speak of.
  const double share = static_cast<double>(for_kv) / static_cast<double>(needed.kv_bytes);
  const auto largest = static_cast<int64_t>(share * static_cast<double>(needed.kv_memory)) / kMiB;
  if (for_kv <= 0 || largest == 0) {
    return sentence +
           ": without any KV cache it does not fit either; use a smaller model, or less "
           "--max-num-batched-tokens";
  }
  return sentence + fmt::format(": use --kv-memory {}MiB or less, or a smaller model", largest);
}

}  // namespace

void CudaExecutor::CheckKernels(const MeasuredConfig& config) {
  constexpr std::array<int64_t, 3> kHeadDims = {64, 128, 256};
  CheckModelKernels(config.model, "cuda", "CUDA", kHeadDims);
  const ModelShape& m = config.model;
  if (m.hidden_size % 4 != 0 || m.intermediate_size % 4 != 0) {
    throw Error(
        fmt::format("model {}: hidden size {} and FFN size {} must be multiples of 4; the "
                    "cuda executor cannot run it",
                    m.name, m.hidden_size, m.intermediate_size));
  }
  const auto has_16_bits = [](Dtype dtype) {
    return dtype == Dtype::kFp16 || dtype == Dtype::kBf16;
  };
  if (!has_16_bits(config.kv_cache_dtype)) {
    throw Error(fmt::format("--kv-cache-dtype {}: the cuda executor has float16 and bfloat16",
                            DtypeName(config.kv_cache_dtype)));
  }
  if (!has_16_bits(config.dtype)) {
    throw Error(fmt::format("--dtype {}: the cuda executor has float16 and bfloat16 weights",
                            DtypeName(config.dtype)));
  }
}

void CudaExecutor::Check(const MeasuredConfig& config, const KvCache& cache, Device& device) {
  CheckKernels(config);
  const Needed needed = WhatIsNeeded(config, cache, device);
  const auto free = static_cast<int64_t>(device.free_bytes());
  if (needed.total() > free) {
    throw Error(
        NotEnough(config.model, needed, device, fmt::format("and {} are free", Size(free)), free),
        Error::Kind::kMachine);
  }
}

CudaExecutor::CudaExecutor(const MeasuredConfig& config, const KvCache& cache, Device& device) try
    : MeasuredExecutor(Tolerance(KvTypeOf(config.kv_cache_dtype)), config.model, config.ranges),
      device_(device),
      pools_(device, config.model, KvTypeOf(config.kv_cache_dtype), cache),
      decoder_(device, DecoderConfig(config, cache, &ranges()), pools_) {
  if (cache.acts()) {
    copies_.emplace(device, pools_, config.model.num_hidden_layers, config.limits.max_model_len);
    const SlotRange first{0, kContiguousUnit};
    copies_->Run({.from = first, .to = first, .tokens = 1});  // onto itself: warm
  }
  WarmUp(cache, config.limits);
  std::fill(std::begin(kinds_), std::end(kinds_), StepKind{});
} catch (const DeviceMemoryError& error) {
  // All of it has been freed again. Who else takes memory is not known, so a tenth stays.
  const auto free = static_cast<int64_t>(device.free_bytes());
  throw Error(NotEnough(config.model, WhatIsNeeded(config, cache, device), device,
                        fmt::format("and {} of it found only {} free",
                                    Size(static_cast<int64_t>(error.asked())),
                                    Size(static_cast<int64_t>(error.free()))),
                        free - free / 10),
              Error::Kind::kMachine);
}

void CudaExecutor::Apply(std::span<const Operation> operations) {
  for (const Operation& operation : operations) {
    copies_->Run(operation);
  }
  device_.Synchronize();
}

void CudaExecutor::AppendRow(int64_t layer, int64_t element, std::vector<uint8_t>& bytes) {
  const int64_t row_bytes = pools_.head_dim() * KvTypeBytes(pools_.type());
  for (const void* const array : {pools_.k(layer), pools_.v(layer)}) {
    bytes.resize(bytes.size() + static_cast<size_t>(row_bytes));
    device_.CopyToHost(bytes.data() + bytes.size() - row_bytes,
                       static_cast<const uint8_t*>(array) + element * KvTypeBytes(pools_.type()),
                       static_cast<size_t>(row_bytes));
  }
}

void CudaExecutor::RunStep(const StepBatch& batch, std::span<const AttentionSequence> sequences,
                           StepPhases& phases) {
  StepKind& kind = kinds_[batch.load.prefills > 0 ? 1 : 0];
  const bool timed = kind.steps++ % kTimedSteps == 0;
  StepPhases spent;
  const double seconds = RunningSeconds([&] {
    decoder_.Run(batch, sequences,
                 verifier().wants_step() ? [this](const AttentionCall& call) { CheckRows(call); }
                                         : std::function<void(const AttentionCall&)>(),
                 timed ? &spent : nullptr);
  });
  for (double StepPhases::*const phase :
       {&StepPhases::attention, &StepPhases::cache_write, &StepPhases::dense}) {
    if (timed) {
      kind.shares.*phase = spent.*phase / seconds;
    }
    phases.*phase += kind.shares.*phase * seconds;
  }
}

void CudaExecutor::CheckRows(const AttentionCall& on_device) {
  device_.Synchronize();  // what is still to be computed belongs to the step
  Verify([&](AttentionVerifier& verifier) {
    for (const AttentionVerifier::Row& row : verifier.rows()) {
      fetched_.Fetch(device_, on_device, row.sequence, row.query);
      verifier.CheckRow(fetched_.call(), {.sequence = 0, .query = 0});
    }
  });
}

void CudaExecutor::BeginMeasured() {
  device_.BeginProfiling();
  MeasuredExecutor::BeginMeasured();
}

void CudaExecutor::EndMeasured() {
  MeasuredExecutor::EndMeasured();
  device_.EndProfiling();
}

}  // namespace kvbench
