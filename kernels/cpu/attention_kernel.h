#pragma once

#include <span>
#include <string>
#include <string_view>

#include "kernels/attention.h"
#include "kernels/cpu/attention_item.h"
#include "kernels/cpu/kv_accessor.h"
#include "kernels/cpu/prefetch_level.h"

namespace kvbench {

/// What attention of a model is, whatever the step.
struct CpuAttentionShape {
  KvType kv_type = KvType::kFp16;
  int32_t group = 1;  ///< query heads of a KV head
  int32_t head_dim = 0;

  static CpuAttentionShape Of(const AttentionCall& call) {
    return {call.kv_type, call.num_heads / call.num_kv_heads, call.head_dim};
  }
};

/// KV heads [first, first + count) of an item, which are worked together.
struct HeadRange {
  int first = 0;
  int count = 0;
};

/// An item as a kernel gets it: its queries, scaled, lie in `work`, and there it leaves for each
/// row the largest score, the sum of the weights and the sum of weights times V.
struct AttentionTask {
  const AttentionCall& call;
  const AttentionItem& item;
  const KvAccessor& kv;
  HeadRange heads;
  const AttentionWorkspace& work;
  PrefetchLevel prefetch;
};

/// A way to compute attention on the CPU, prompts and decodes, under a name. A new one is a file
/// that defines it, and its line in attention_kernels.cc: `--attention-kernel`, the tests and the
/// micro benchmarks take it from there.
struct CpuAttentionKernel {
  std::string_view name;
  /// Whether it has this shape on this machine's instruction set.
  bool (*supports)(const CpuAttentionShape& shape);
  std::string_view supported;  ///< the same as the end of "it has ..."
  void (*attend)(const AttentionTask& task);
};

/// All of them, the preferred ones first.
std::span<const CpuAttentionKernel* const> CpuAttentionKernels();

/// The kernel of that name; of "auto" the first that has the shape. It depends on the shape and the
/// instruction set alone. Throws Error (kInput) for a name that there is not, and for a kernel that
/// does not have the shape.
const CpuAttentionKernel& FindCpuAttentionKernel(std::string_view name,
                                                 const CpuAttentionShape& shape);

/// Throws Error (kInput) unless it is "auto" or a kernel's name.
void CheckCpuAttentionKernelName(std::string_view name);

}  // namespace kvbench
