#pragma once

#include "kernels/cuda/attention_params.h"
#include "kernels/cuda/kv_accessor_device.h"
#include "kernels/cuda/vocabulary.h"

namespace kvbench {
inline namespace KV_SPACE {

/// A ring of tiles of K and V in shared memory, filled by asynchronous copies some tiles ahead. A
/// tile has kTileKeys rows of kHeadDim elements of K, then as many of V. Rows are stored in pieces
/// of 16 bytes, piece c of row r at place c ^ (r % 8), so that eight rows of one column lie in
/// different banks.
///
/// Per tile: Arrive() waits for the tile and starts the copy of a later one; between two calls a
/// thread reads the tile as it likes. Keys from end_key on are zeros and are not read from memory.
template <typename T, int kHeadDim, int kTileKeys, int kStages, typename Keys, int kThreads>
class KvTiles {
 public:
  static constexpr int kPieces = kHeadDim / 8;
  static constexpr int kTileElements = 2 * kTileKeys * kHeadDim;
  static constexpr int kTileBytes = kTileElements * 2;
  static constexpr int kRingBytes = kStages * kTileBytes;
  /// Offsets of tiles to come, where they are looked up in a table.
  static constexpr int kOffsetSlots = kStages + 1;
  static constexpr int kOffsetBytes = Keys::kTabled ? kOffsetSlots * kTileKeys * 8 : 0;
  static constexpr int kBytes = kRingBytes + kOffsetBytes;

  KV_DEVICE KvTiles(const AttentionParams& p, const Keys& keys, int first_key, int end_key,
                    int shared_offset)
      : k_{static_cast<const T*>(p.k)},
        v_{static_cast<const T*>(p.v)},
        keys_(keys),
        first_key_(first_key),
        end_key_(end_key),
        ring_(DynamicShared<T>(shared_offset)),
        offsets_(DynamicShared<int64_t>(shared_offset + kRingBytes)) {
    tiles_ = end_key > first_key ? (end_key - first_key + kTileKeys - 1) / kTileKeys : 0;
    if constexpr (Keys::kTabled) {
      for (int tile = 0; tile < kStages; ++tile) LookUp(tile);
      SyncCta();
    }
    for (int tile = 0; tile < kStages - 1; ++tile) Copy(tile);
  }

  KV_DEVICE int tiles() const { return tiles_; }

  /// After it, tile number `tile` is there for all threads, and all threads have done with the tile
  /// before.
  KV_DEVICE void Arrive(int tile) {
    WaitCopies<kStages - 2>();
    SyncCta();
    Copy(tile + kStages - 1);
    if constexpr (Keys::kTabled) LookUp(tile + kStages);
  }

  /// Piece `piece` (8 elements) of a row of K or V of a tile.
  KV_DEVICE Shared<const T> KPiece(int tile, int row, int piece) const {
    return ring_ + (tile % kStages * kTileElements + Place(row, piece));
  }
  KV_DEVICE Shared<const T> VPiece(int tile, int row, int piece) const {
    return ring_ + (tile % kStages * kTileElements + kTileKeys * kHeadDim + Place(row, piece));
  }

 private:
  static KV_DEVICE int Place(int row, int piece) {
    return (row * kPieces + (piece ^ (row % 8))) * 8;
  }

  KV_DEVICE void LookUp(int tile) {
    const int key = first_key_ + tile * kTileKeys + ThreadId();
    if (ThreadId() < kTileKeys && key < end_key_) {
      Store(offsets_ + (tile % kOffsetSlots * kTileKeys + ThreadId()), keys_.OffsetOf(key));
    }
  }

  KV_DEVICE int64_t OffsetOf(int tile, int row) const {
    if constexpr (Keys::kTabled) {
      return Load(offsets_ + (tile % kOffsetSlots * kTileKeys + row));
    } else {
      return keys_.OffsetOf(first_key_ + tile * kTileKeys + row);
    }
  }

  KV_DEVICE void Copy(int tile) {
    static_assert(kTileKeys * kPieces % kThreads == 0 || kTileKeys * kPieces < kThreads);
    if (tile < tiles_) {
      const Shared<T> k_to = ring_ + tile % kStages * kTileElements;
      const Shared<T> v_to = k_to + kTileKeys * kHeadDim;
#pragma unroll
      for (int i = ThreadId(); i < kTileKeys * kPieces; i += kThreads) {
        const int row = i / kPieces;
        const int piece = i % kPieces;
        const bool valid = first_key_ + tile * kTileKeys + row < end_key_;
        const int64_t from = (valid ? OffsetOf(tile, row) : 0) + piece * 8;
        CopyAsync16(k_to + Place(row, piece), k_ + from, valid);
        CopyAsync16(v_to + Place(row, piece), v_ + from, valid);
      }
    }
    // An empty group where there is nothing left, so that waiting counts the same.
    CommitCopies();
  }

  Global<const T> k_;
  Global<const T> v_;
  const Keys& keys_;
  int first_key_;
  int end_key_;
  int tiles_ = 0;
  Shared<T> ring_;
  Shared<int64_t> offsets_;
};

}  // namespace KV_SPACE
}  // namespace kvbench
