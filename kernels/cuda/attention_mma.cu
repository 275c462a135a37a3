#include "kernels/cuda/attention_mma.h"
#include "kernels/cuda/kernel_entry.h"
#include "kernels/cuda/kernel_names.h"

namespace kvbench {
inline namespace KV_SPACE {

namespace {

template <typename T, int kHeadDim, typename Keys, int kMatrices>
void Add(KernelTable& table) {
  using K = AttentionMma<T, kHeadDim, Keys, kMatrices>;
  AddKernel<K>(table, AttentionMmaName(KvTypeName<T>(), kHeadDim, Keys::kTabled, K::kRows),
               K::kSharedBytes);
}

template <typename T, typename Keys>
void AddAll(KernelTable& table) {
  Add<T, 64, Keys, 1>(table);
  Add<T, 64, Keys, 2>(table);
  Add<T, 128, Keys, 1>(table);
  Add<T, 128, Keys, 2>(table);
  Add<T, 256, Keys, 1>(table);
  Add<T, 256, Keys, 2>(table);
}

}  // namespace

void AddAttentionMmaKernels(KernelTable& table) {
  AddAll<Fp16, ContiguousKeys>(table);
  AddAll<Fp16, PagedKeys>(table);
  AddAll<Bf16, ContiguousKeys>(table);
  AddAll<Bf16, PagedKeys>(table);
}

}  // namespace KV_SPACE
}  // namespace kvbench
