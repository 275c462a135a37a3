#pragma once

#include <memory>

#include "kernels/attention.h"
#include "kernels/cpu/attention_plan.h"
#include "kernels/cpu/thread_pool.h"

namespace kvbench {

/// Attention on the CPU: decode and causal prefill, contiguous and paged, fp16, bf16 and fp32 KV,
/// any group size.
class CpuAttention {
 public:
  explicit CpuAttention(ThreadPool& pool);
  ~CpuAttention();
  CpuAttention(const CpuAttention&) = delete;
  CpuAttention& operator=(const CpuAttention&) = delete;

  /// Runs one layer. `plan` must have been built from call.sequences for the pool's number of
  /// threads; contexts, blocks and bases are read from the call. Writes every row of call.out that
  /// belongs to a sequence's query. Scratch grows to the largest call seen and is kept: a steady
  /// step allocates nothing.
  void Run(const AttentionCall& call, const AttentionPlan& plan);

 private:
  struct Scratch;
  ThreadPool& pool_;
  std::unique_ptr<Scratch> scratch_;
};

}  // namespace kvbench
