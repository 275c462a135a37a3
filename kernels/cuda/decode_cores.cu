#include <string>

#include "kernels/cuda/decode_cores.h"
#include "kernels/cuda/kernel_entry.h"
#include "kernels/cuda/kernel_names.h"

namespace kvbench {
inline namespace KV_SPACE {

namespace {

template <typename T, int kHeadDim, typename Keys, int kHeads, int kStages>
void Add(KernelTable& table) {
  using K = DecodeCores<T, kHeadDim, Keys, kHeads, kStages>;
  static_assert(K::kSharedBytes <= 48 * 1024);
  AddKernel<K>(table, DecodeCoresName(KvTypeName<T>(), kHeadDim, Keys::kTabled, kHeads, kStages),
               K::kSharedBytes);
}

template <typename T, int kHeadDim, typename Keys>
void AddHeads(KernelTable& table) {
  Add<T, kHeadDim, Keys, 1, 2>(table);
  Add<T, kHeadDim, Keys, 2, 2>(table);
  Add<T, kHeadDim, Keys, 4, 2>(table);
}

template <typename T, typename Keys>
void AddHeadDims(KernelTable& table) {
  AddHeads<T, 64, Keys>(table);
  AddHeads<T, 128, Keys>(table);
  AddHeads<T, 256, Keys>(table);
}

}  // namespace

void AddDecodeCoresKernels(KernelTable& table) {
  AddHeadDims<Fp16, ContiguousKeys>(table);
  AddHeadDims<Fp16, PagedKeys>(table);
  AddHeadDims<Bf16, ContiguousKeys>(table);
  AddHeadDims<Bf16, PagedKeys>(table);
  // Deeper rings of smaller tiles, to be compared on a GPU.
  Add<Fp16, 128, ContiguousKeys, 1, 3>(table);
  Add<Fp16, 128, PagedKeys, 1, 3>(table);
  Add<Fp16, 128, ContiguousKeys, 1, 4>(table);
  Add<Fp16, 128, PagedKeys, 1, 4>(table);
}

}  // namespace KV_SPACE
}  // namespace kvbench
