#include "kernels/cpu/block_copy.h"

#include <cstring>

namespace kvbench {

void CopyBlocks(ThreadPool& pool, std::span<void* const> pools, int64_t block_bytes,
                std::span<const BlockPair> pairs) {
  const auto pair_count = static_cast<int64_t>(pairs.size());
  const int64_t total = static_cast<int64_t>(pools.size()) * pair_count;
  if (total == 0) return;
  pool.Run([&](int thread) {
    const ThreadRange range = SplitRange(total, thread, pool.size());
    for (int64_t i = range.begin; i < range.end; ++i) {
      char* const base = static_cast<char*>(pools[static_cast<size_t>(i / pair_count)]);
      const BlockPair& pair = pairs[static_cast<size_t>(i % pair_count)];
      std::memcpy(base + pair.target * block_bytes, base + pair.source * block_bytes,
                  static_cast<size_t>(block_bytes));
    }
  });
}

}  // namespace kvbench
