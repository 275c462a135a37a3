#pragma once

#include <cstdint>
#include <vector>

namespace kvbench::micro {

/// The block tables of `sequences` sequences of `context` tokens, one after the other, as a
/// PagedCache of `num_blocks` blocks gives them after a long run: requests of random lengths have
/// come, grown token by token side by side and gone, until four times the pool had been given out.
/// The same arguments, the same tables. Throws std::logic_error when they do not fit beside the
/// watermark.
std::vector<int32_t> AgedBlocks(int32_t num_blocks, int32_t block_size, int32_t context,
                                int32_t sequences);

}  // namespace kvbench::micro
