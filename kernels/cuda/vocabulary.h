#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/cuda/address.h"

/// The device vocabulary: the few words that kernels are written in. Under nvcc they are CUDA
/// (`vocabulary_cuda.h`), under any other compiler the simulator's
/// (`kernels/cuda/vocabulary_simulator.h`), so that the same source runs on a GPU and in a
/// test without one. A kernel file uses nothing else of either world.
///
/// Memory is reached through Global<T> and Shared<T> alone, which cannot be dereferenced: every
/// access is a Load or a Store, and the simulator sees it.
#if defined(__CUDACC__)
#define KV_SPACE on_cuda
#define KV_DEVICE __device__ __forceinline__
#else
#define KV_SPACE on_simulator
#define KV_DEVICE inline
#endif

namespace kvbench {
// Kernels exist twice in a program that has both worlds: each has a namespace of its own.
inline namespace KV_SPACE {

/// Lanes of a warp that take part in a collective.
constexpr uint32_t kFullWarp = 0xffffffffu;
constexpr int kWarpSize = 32;

}  // namespace KV_SPACE
}  // namespace kvbench

// Both define, in the same namespace:
// clang-format off
//   ids          ThreadId() of ThreadCount() in the CTA; LaneId(), WarpId(); CtaX(), CtaY(),
//                CtaCountX()
//   barriers     SyncCta(), SyncWarp(): execution and memory order for the CTA, for a full warp
//   collectives  ShuffleXor(v, lanes), ShuffleFrom(v, lane); a mask may come last
//   memory       DynamicShared<T>(byte offset), Load(p), Store(p, v), Load16(p), Store16(p, v),
//                Store8(p, v) to global memory
//   copies       CopyAsync16(shared, global, valid): 16 bytes, zeros where not valid;
//                CommitCopies(); WaitCopies<n>(): all but the newest n groups of this thread landed
//   matrices     LoadMatrix4(r, row address), LoadMatrix4Transposed: four 8x8 matrices of 16-bit
//                elements; lane i names row i % 8 of matrix i / 8; Multiply16x8x16<T>(d, a, b)
//   numbers      ToFloat(T), FromFloat<T>(f), Exp2(f), Log2(f), ReciprocalSqrt(f), Max(f, f),
//                Unpack<T>(word, float[2]), Pack<T>(f, f), FloatOf(word), WordOf(f): the same bits
// clang-format on
#if defined(__CUDACC__)
#include "kernels/cuda/vocabulary_cuda.h"
#else
#include "kernels/cuda/vocabulary_simulator.h"
#endif
