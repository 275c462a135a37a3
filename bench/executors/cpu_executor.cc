#include "bench/executors/cpu_executor.h"

#include <fmt/format.h>

#include <array>
#include <fstream>
#include <optional>
#include <string>

#include "base/error.h"
#include "kernels/cpu/attention_kernel.h"

namespace kvbench {

namespace {

Decoder::Config DecoderConfig(const MeasuredConfig& config, Ranges* ranges = nullptr) {
  return {.model = config.model,
          .dense = config.dense,
          .weights = WeightTypeOf(config.dtype),
          .max_tokens = config.limits.max_num_batched_tokens,
          .max_sequences = config.max_sequences(),
          .max_positions = config.limits.max_model_len,
          .attention_kernel = config.attention_kernel,
          .ranges = ranges};
}

/// Bytes that the system can still give, from /proc/meminfo; nothing where it cannot be read.
std::optional<int64_t> AvailableMemory() {
  std::ifstream file("/proc/meminfo");
  std::string key;
  int64_t kib = 0;
  std::string unit;
  while (file >> key >> kib) {
    std::getline(file, unit);
    if (key == "MemAvailable:") {
      return kib * 1024;
    }
  }
  return std::nullopt;
}

/// The kernel that the registry gives. Throws Error (kInput).
const CpuAttentionKernel& KernelOf(const MeasuredConfig& config) {
  const ModelShape& m = config.model;
  return FindCpuAttentionKernel(
      config.attention_kernel,
      {.kv_type = KvTypeOf(config.kv_cache_dtype),
       .group = static_cast<int32_t>(m.num_attention_heads / m.num_key_value_heads),
       .head_dim = static_cast<int32_t>(m.head_dim)});
}

/// As the record names it.
std::string KernelName(const MeasuredConfig& config) {
  return (config.attention_kernel == "auto" ? "auto:" : "") + std::string(KernelOf(config).name);
}

double GiB(int64_t bytes) { return static_cast<double>(bytes) / (int64_t{1} << 30); }

}  // namespace

void CpuExecutor::CheckKernels(const ModelShape& m, Dtype kv_cache_dtype) {
  constexpr std::array<int64_t, 5> kHeadDims = {64, 80, 96, 128, 256};
  CheckModelKernels(m, "cpu", "CPU", kHeadDims);
  if (kv_cache_dtype == Dtype::kFp8) {
    throw Error("--kv-cache-dtype fp8: the cpu executor has float16, bfloat16, float32 and int8");
  }
}

void CpuExecutor::Check(const MeasuredConfig& config, const KvCache& cache) {
  const ModelShape& m = config.model;
  CheckKernels(m, config.kv_cache_dtype);
  if (config.dtype != Dtype::kFp32 && config.dtype != Dtype::kBf16) {
    throw Error(fmt::format("--dtype {}: the cpu executor has float32 and bfloat16 weights",
                            DtypeName(config.dtype)));
  }
  KernelOf(config);
  const int64_t kv_bytes = KvPlacement(m, KvTypeOf(config.kv_cache_dtype), cache).total_bytes();
  const int64_t needed = kv_bytes + Decoder::Bytes(DecoderConfig(config));
  const std::optional<int64_t> available = AvailableMemory();
  if (available && needed > *available) {
    throw Error(
        fmt::format("model {} needs {:.1f} GiB on this machine ({:.1f} GiB of it KV cache), and "
                    "{:.1f} GiB are free: use a smaller model or --kv-memory",
                    m.name, GiB(needed), GiB(kv_bytes), GiB(*available)),
        Error::Kind::kMachine);
  }
}

CpuExecutor::CpuExecutor(const MeasuredConfig& config, const KvCache& cache, ThreadPool& pool)
    : MeasuredExecutor(kTolerance, config.model, config.ranges),
      attention_kernel_(KernelName(config)),
      pool_(pool),
      pools_(config.model, KvTypeOf(config.kv_cache_dtype), cache),
      decoder_(DecoderConfig(config, &ranges()), pool) {
  WarmUp(cache, config.limits);
}

void CpuExecutor::Apply(std::span<const Operation> operations) {
  for (const Operation& operation : operations) {
    pools_.Copy(operation, pool_);
  }
}

void CpuExecutor::AppendRow(int64_t layer, int64_t element, std::vector<uint8_t>& bytes) {
  pools_.AppendRow(layer, element, bytes);
}

void CpuExecutor::RunStep(const StepBatch& batch, std::span<const AttentionSequence> sequences,
                          StepPhases& phases) {
  if (!verifier().wants_step()) {
    decoder_.Run(batch, sequences, pools_, nullptr, phases);
    return;
  }
  decoder_.Run(
      batch, sequences, pools_,
      [&](const AttentionCall& call) {
        Verify([&](AttentionVerifier& verifier) { verifier.Check(call); });
      },
      phases);
}

}  // namespace kvbench
