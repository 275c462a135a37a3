#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "kernels/attention.h"
#include "kernels/cpu/attention_plan.h"
#include "kernels/cpu/prefetch_level.h"
#include "kernels/cpu/thread_pool.h"

namespace kvbench {

/// Attention on the CPU: decode and causal prefill, contiguous and paged, fp16, bf16, fp32 and int8
/// KV, any group size. A plan's items are spread over the threads, a kernel of the registry
/// (attention_kernel.h) computes each, and the parts of queries whose keys were split are merged.
///
/// What the kernels do to be bound by memory alone, and what each step of that gave, is in
/// docs/kernels-ladder.md.
class CpuAttention {
 public:
  /// @param kernel "auto", or the name of a kernel that has the shape of every call to come. Throws
  /// Error (kInput) for a name that there is not.
  explicit CpuAttention(ThreadPool& pool, std::string_view kernel = "auto",
                        PrefetchLevel prefetch = FasterPrefetchLevel());
  ~CpuAttention();
  CpuAttention(const CpuAttention&) = delete;
  CpuAttention& operator=(const CpuAttention&) = delete;

  /// Runs one layer. `plan` must have been built from call.sequences for the pool's number of
  /// threads; contexts, blocks and bases are read from the call. Writes every row of call.out that
  /// belongs to a sequence's query. Scratch grows to the largest call seen and is kept: a steady
  /// step allocates nothing. Throws Error (kInput) where the kernel does not have the call's shape.
  void Run(const AttentionCall& call, const AttentionPlan& plan);

 private:
  struct Scratch;
  ThreadPool& pool_;
  std::string name_;
  PrefetchLevel prefetch_;
  std::unique_ptr<Scratch> scratch_;
};

}  // namespace kvbench
