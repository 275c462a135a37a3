// Attention by rows: decodes of 1, 2, 4 or 8 query heads a KV head, with K and V read where they
// lie and converted in registers. Prompts go by tiles.

#include "kernels/cpu/attention_rows.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "kernels/cpu/attention_kernel.h"

namespace kvbench {

extern const CpuAttentionKernel kTilesAttention;

namespace {

constexpr int kTile = kKeyTile;
constexpr int kPageBytes = 4096;
/// Prompts have many rows: for those a tile is converted once.
constexpr int kFewRows = 2;

/// K or V of a tile of keys over some heads.
struct KvTile {
  const char* pool = nullptr;  ///< moved to the first head
  int64_t head_bytes = 0;      ///< from one head to the next
  const float* scales = nullptr;
  int64_t head_rows = 0;  ///< scales from one head to the next
  const KeyList* list = nullptr;
  int count = 0;  ///< keys
};

/// Goes over a tile in pieces: those of a run of keys of one head, then of the same keys of the
/// next head, then of the next run.
class PieceCursor {
 public:
  PieceCursor(int heads, int run_keys, int piece_keys)
      : heads_(heads), run_keys_(run_keys), piece_keys_(piece_keys) {}

  /// The tile must stay where it is.
  void Enter(const KvTile& tile) {
    tile_ = &tile;
    run_begin_ = head_ = key_ = 0;
  }
  bool done() const { return run_begin_ >= tile_->count; }
  int head() const { return head_; }
  int key() const { return key_; }

  void Next() {
    const int run_end = std::min(run_begin_ + run_keys_, tile_->count);
    key_ += piece_keys_;
    if (key_ < run_end) return;
    if (++head_ == heads_) {
      head_ = 0;
      run_begin_ += run_keys_;
    }
    key_ = run_begin_;
  }

  KvRows Rows() const {
    if (done()) return {};
    const int run_end = std::min(run_begin_ + run_keys_, tile_->count);
    return {.pool = tile_->pool + head_ * tile_->head_bytes,
            .offsets = tile_->list->offsets + key_,
            .count = std::min(piece_keys_, run_end - key_),
            .scales = tile_->scales + head_ * tile_->head_rows,
            .scale_rows = tile_->list->scale_rows + key_};
  }

 private:
  const KvTile* tile_ = nullptr;
  int heads_;
  int run_keys_;
  int piece_keys_;
  int run_begin_ = 0;
  int head_ = 0;
  int key_ = 0;
};

/// How the tiles of an item are cut, and how far ahead they are prefetched.
struct Walk {
  Walk(const AttentionTask& task, int rows) {
    const int row_bytes = task.call.head_dim * KvTypeBytes(task.call.kv_type);
    const int heads = task.heads.count;
    page_keys = std::clamp(kPageBytes / row_bytes, 8, kTile);
    // With few rows K and V are two streams, a tile of each in turn. With many, V is walked once
    // for each few columns and only the first walk prefetches: pieces of a page spread that out.
    const bool few = rows <= kFewRows;
    const int32_t run_tokens = task.kv.run_tokens();
    whole_tile = heads == 1 && few;
    run_keys = heads == 1 || !few ? kTile : std::clamp(run_tokens, page_keys, kTile);
    piece_keys = whole_tile ? kTile : page_keys;
    prefetch.level = task.prefetch;
    // What lies together and is read in that order: a head of a contiguous cache, a block's heads.
    constexpr int64_t kStreamBytes = 128 * 1024;
    const bool streams =
        few && (heads == 1 ? run_tokens == KvAccessor::kEndless
                           : run_tokens <= kTile &&
                                 int64_t{run_tokens} * heads * row_bytes >= kStreamBytes);
    if (streams && task.prefetch == PrefetchLevel::kSecond) {
      // Where misses in flight are few, streams are left to the hardware: one line in four keeps
      // them going, from a tile of K to one of V too if it is a tile ahead.
      prefetch.step = 256;
      if (whole_tile) pages_ahead = 4;
    }
  }

  int pieces_ahead() const { return whole_tile ? 1 : pages_ahead; }
  int RowsAheadIn(int count) const {
    return whole_tile ? std::min(pages_ahead * page_keys, kTile) : count;
  }

  int page_keys;
  bool whole_tile;
  int run_keys;
  int piece_keys;
  int pages_ahead = 2;
  PrefetchPlan prefetch;
};

/// All keys of the item for some KV heads of one query. Tile by tile K is read, then V; what is
/// used 8 KiB later is on its way, whether it is of the same tile, of its V or of the next tile's
/// K.
class RowsPass {
 public:
  RowsPass(const AttentionTask& task, const RowFunctions& vectors)
      : task_(task),
        vectors_(vectors),
        dim_(task.call.head_dim),
        rows_(task.call.num_heads / task.call.num_kv_heads),
        element_bytes_(KvTypeBytes(task.call.kv_type)),
        has_scales_(vectors.apply_scales != nullptr),
        walk_(task, rows_),
        // Items begin at multiples of kSplitAlign keys, tiles and pieces at multiples of a vector.
        scales_in_vectors_(task.kv.run_tokens() % vectors.lanes == 0 &&
                           task.item.first_key % vectors.lanes == 0 &&
                           walk_.piece_keys % vectors.lanes == 0),
        now_(task.heads.count, walk_.run_keys, walk_.piece_keys),
        later_(now_) {}

  void Run() {
    const AttentionItem& item = task_.item;
    // Not members: what vector functions may reach stays out of registers.
    KeyList lists[2];
    KeyList* list = &lists[0];
    KeyList* next_list = &lists[1];
    KvTile tiles[2];
    k_ = &tiles[0];
    next_k_ = &tiles[1];
    List(item.first_key, *list);
    *k_ = K(item.first_key, *list);
    later_.Enter(*k_);
    for (int i = 0; i < walk_.pieces_ahead(); ++i) later_.Next();
    for (int begin = item.first_key; begin < item.end_key; begin += kTile) {
      List(begin + kTile, *next_list);
      v_ = V(begin, *list);
      *next_k_ = K(begin + kTile, *next_list);
      AttendTile();
      std::swap(list, next_list);
      std::swap(k_, next_k_);
    }
  }

 private:
  int CountFrom(int begin) const { return std::clamp<int>(task_.item.end_key - begin, 0, kTile); }
  void List(int begin, KeyList& list) const {
    list.Fill(task_.kv, begin, CountFrom(begin), has_scales_ ? dim_ : 0);
  }
  KvTile Tile(const void* pool, const float* scales, int begin, const KeyList& list) const {
    const int64_t stride = task_.kv.head_stride();
    const int64_t head_rows = has_scales_ ? stride / dim_ : 0;
    return {.pool = static_cast<const char*>(pool) + task_.heads.first * stride * element_bytes_,
            .head_bytes = stride * element_bytes_,
            .scales = has_scales_ ? scales + task_.heads.first * head_rows : nullptr,
            .head_rows = head_rows,
            .list = &list,
            .count = CountFrom(begin)};
  }
  KvTile K(int begin, const KeyList& list) const {
    return Tile(task_.call.k, task_.call.k_scales, begin, list);
  }
  KvTile V(int begin, const KeyList& list) const {
    return Tile(task_.call.v, task_.call.v_scales, begin, list);
  }

  /// Where `later_` comes to the end of K it goes on in V, from there in the next tile's K, and
  /// waits at its end for the next tile.
  void GoOn(bool v_comes) {
    if (!later_.done()) return;
    if (later_in_v_) {
      later_.Enter(*next_k_);
      later_in_v_ = false;
    } else if (v_comes) {
      later_.Enter(v_);
      later_in_v_ = true;
    }
  }
  RowsAhead TakePiece(bool v_comes) {
    RowsAhead rows{now_.Rows(), later_.Rows(), 0, walk_.prefetch};
    rows.ahead = walk_.RowsAheadIn(rows.now.count);
    later_.Next();
    GoOn(v_comes);
    return rows;
  }

  void AttendTile() {
    const AttentionWorkspace& work = task_.work;
    constexpr int64_t kScoreRow = AttentionWorkspace::kScoreRow;
    const int64_t state_rows = int64_t{rows_} * dim_;
    const auto scores = [&] {
      return work.scores() + now_.head() * rows_ * kScoreRow + now_.key();
    };
    GoOn(true);
    for (now_.Enter(*k_); !now_.done(); now_.Next()) {
      const RowsAhead rows = TakePiece(true);
      vectors_.scores(rows, dim_, work.q() + now_.head() * state_rows, scores());
      if (has_scales_) vectors_.apply_scales(rows, scales_in_vectors_, scores());
    }
    for (int row = 0; row < task_.heads.count * rows_; ++row) {
      const float factor = vectors_.softmax(work.scores() + row * kScoreRow, k_->count,
                                            work.largest()[row], work.sum()[row]);
      if (factor != 1.0f) vectors_.rescale(factor, dim_, work.out() + row * dim_);
    }
    for (now_.Enter(v_); !now_.done(); now_.Next()) {
      const RowsAhead rows = TakePiece(false);
      if (has_scales_) vectors_.apply_scales(rows, scales_in_vectors_, scores());
      vectors_.accumulate(rows, dim_, scores(), work.out() + now_.head() * state_rows);
    }
  }

  const AttentionTask& task_;
  const RowFunctions& vectors_;
  int dim_;
  int rows_;
  int element_bytes_;
  bool has_scales_;
  Walk walk_;
  bool scales_in_vectors_;
  PieceCursor now_;
  PieceCursor later_;
  bool later_in_v_ = false;
  KvTile v_;
  KvTile* k_ = nullptr;
  KvTile* next_k_ = nullptr;
};

bool Supports(const CpuAttentionShape& shape) {
  return RowFunctionsFor(shape.kv_type, shape.group) != nullptr;
}

void Attend(const AttentionTask& task) {
  if (task.item.num_queries > 1) return kTilesAttention.attend(task);
  const int group = task.call.num_heads / task.call.num_kv_heads;
  RowsPass(task, *RowFunctionsFor(task.call.kv_type, group)).Run();
}

}  // namespace

extern constexpr CpuAttentionKernel kRowsAttention = {
    .name = "rows",
    .supports = &Supports,
    .supported = "1, 2, 4 or 8 query heads for each KV head, and needs AVX2 or NEON",
    .attend = &Attend};

}  // namespace kvbench
