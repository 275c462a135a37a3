#pragma once

#include "kernels/cuda/block_copy_params.h"
#include "kernels/cuda/kernel_table.h"
#include "kernels/cuda/vectors.h"

namespace kvbench {
inline namespace KV_SPACE {

/// One CTA a block and pool.
struct BlockCopy {
  using Params = BlockCopyParams;
  static constexpr int kThreads = 128;
  static constexpr int kCtasPerSm = 8;

  KV_DEVICE static void Run(const Params& p) {
    const BlockMove move = Load(p.moves + CtaX());
    const Global<uint8_t> pool{Load(p.pools + CtaY())};
    CopyVectors(pool + move.from * p.block_bytes, pool + move.to * p.block_bytes,
                static_cast<int32_t>(p.block_bytes / 16));
  }
};

/// One CTA a block and pool, from the pools (kOut) or to them.
template <bool kOut>
struct BlockSwap {
  using Params = BlockSwapParams;
  static constexpr int kThreads = 128;
  static constexpr int kCtasPerSm = 8;

  KV_DEVICE static void Run(const Params& p) {
    const int64_t block = Load(p.blocks + CtaX());
    const Global<uint8_t> in_pool = Global<uint8_t>{Load(p.pools + CtaY())} + block * p.block_bytes;
    const Global<uint8_t> staged =
        p.staging + (CtaX() * int64_t{p.num_pools} + CtaY()) * p.block_bytes;
    CopyVectors(kOut ? in_pool : staged, kOut ? staged : in_pool,
                static_cast<int32_t>(p.block_bytes / 16));
  }
};

/// "block_copy", "block_gather", "block_scatter": bytes, whatever their type.
void AddBlockCopyKernels(KernelTable& table);

}  // namespace KV_SPACE
}  // namespace kvbench
