#include "kernels/cpu/attention.h"

#include <atomic>
#include <cassert>
#include <cmath>

#include "kernels/cpu/attention_item.h"
#include "kernels/cpu/attention_merge.h"
#include "kernels/cpu/buffer.h"
#include "kernels/cpu/kv_accessor.h"
#include "kernels/cpu/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/attention.cc"
#include "hwy/foreach_target.h"
//
#include "hwy/highway.h"
#include "kernels/cpu/attention_few_rows-inl.h"
#include "kernels/cpu/attention_tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kvbench {
namespace HWY_NAMESPACE {

/// A chunk of KV heads of an item: its queries, KV heads [first_head, first_head + heads).
struct HeadRange {
  int first_head;
  int heads;
};

// Row order in the workspace is [head, query, head of the group].
template <typename Visit>
HWY_INLINE void ForEachRow(const AttentionCall& call, const AttentionItem& item, HeadRange range,
                           const Visit& visit) {
  const int group = call.num_heads / call.num_kv_heads;
  int64_t row = 0;
  for (int head = range.first_head; head < range.first_head + range.heads; ++head) {
    for (int query = 0; query < item.num_queries; ++query) {
      for (int member = 0; member < group; ++member) visit(row++, query, head * group + member);
    }
  }
}

void LoadQueries(const AttentionCall& call, const AttentionItem& item, HeadRange range,
                 const AttentionWorkspace& work) {
  const F32Tag d;
  const AttentionSequence& sequence = call.sequences[static_cast<size_t>(item.sequence)];
  const int64_t stride =
      call.q_row_stride != 0 ? call.q_row_stride : int64_t{call.num_heads} * call.head_dim;
  const float* const q = call.q + (sequence.first_query + item.first_query) * stride;
  const F32 scale = hn::Set(d, call.scale);
  ForEachRow(call, item, range, [&](int64_t row, int query, int head) HWY_ATTR {
    const float* const from = q + query * stride + int64_t{head} * call.head_dim;
    for (int i = 0; i < call.head_dim; i += kLanes) {
      hn::StoreU(hn::Mul(scale, hn::LoadU(d, from + i)), d, work.q() + row * call.head_dim + i);
      hn::StoreU(hn::Zero(d), d, work.out() + row * call.head_dim + i);
    }
    work.largest()[row] = -INFINITY;
    work.sum()[row] = 0;
  });
}

void StoreResults(const AttentionCall& call, const AttentionItem& item, HeadRange range,
                  const AttentionWorkspace& work, const AttentionPartials& partials) {
  const F32Tag d;
  const AttentionSequence& sequence = call.sequences[static_cast<size_t>(item.sequence)];
  ForEachRow(call, item, range, [&](int64_t row, int query, int head) HWY_ATTR {
    float* to = nullptr;
    float factor = 1.0f;
    if (item.split >= 0) {
      const int64_t partial = item.partial_row + int64_t{query} * call.num_heads + head;
      to = partials.out + partial * call.head_dim;
      partials.largest[partial] = work.largest()[row];
      partials.sum[partial] = work.sum()[row];
    } else {
      const int64_t out_row = sequence.first_query + item.first_query + query;
      to = call.out + (out_row * call.num_heads + head) * call.head_dim;
      factor = work.sum()[row] > 0 ? 1.0f / work.sum()[row] : 0.0f;
    }
    const F32 factors = hn::Set(d, factor);
    const float* const from = work.out() + row * call.head_dim;
    for (int i = 0; i < call.head_dim; i += kLanes) {
      hn::StoreU(hn::Mul(factors, hn::LoadU(d, from + i)), d, to + i);
    }
  });
}

template <typename T, class Accessor>
void AttendHeads(const AttentionCall& call, const AttentionItem& item, const Accessor& kv,
                 HeadRange range, const AttentionWorkspace& work, PrefetchLevel level) {
  const int group = call.num_heads / call.num_kv_heads;
  const auto few_rows = [&]<int kRows>() {
    AttendFewRows<T, kRows>(call, item, kv, range.first_head, range.heads, work, level);
  };
  switch (item.num_queries == 1 ? group : 0) {
    case 1:
      return few_rows.template operator()<1>();
    case 2:
      return few_rows.template operator()<2>();
    case 4:
      return few_rows.template operator()<4>();
    case 8:
      return few_rows.template operator()<8>();
    default:
      return AttendTiles<T>(call, item, kv, range.first_head, range.heads, work);
  }
}

template <typename T, class Accessor>
void AttendWith(const AttentionCall& call, const AttentionItem& item, float* memory,
                const AttentionPartials& partials, PrefetchLevel level) {
  const Accessor kv(call.layout, call.sequences[static_cast<size_t>(item.sequence)]);
  const int64_t rows = int64_t{item.num_queries} * (call.num_heads / call.num_kv_heads);
  // Head by head, a decode of a contiguous cache or of large blocks is two long streams; the heads
  // of a small block lie together. int8 is bound by instructions and gains more from heads side by
  // side, of which one starts while another waits for its softmax.
  const int32_t block_size = call.layout.block_size;
  const bool one_head =
      !kHasScales<T> && item.num_queries == 1 && (block_size == 0 || block_size > kKeyTile);
  const int chunk = one_head ? 1 : AttentionWorkspace::HeadChunk(call, rows);
  const AttentionWorkspace work(memory, rows, chunk, call.head_dim);
  for (int head = 0; head < call.num_kv_heads; head += chunk) {
    const HeadRange range{head, std::min(chunk, call.num_kv_heads - head)};
    LoadQueries(call, item, range, work);
    AttendHeads<T>(call, item, kv, range, work, level);
    StoreResults(call, item, range, work, partials);
  }
}

template <typename T>
void AttendLayout(const AttentionCall& call, const AttentionItem& item, float* memory,
                  const AttentionPartials& partials, PrefetchLevel level) {
  if (call.layout.block_size == 0) {
    return AttendWith<T, ContiguousKv>(call, item, memory, partials, level);
  }
  AttendWith<T, PagedKv>(call, item, memory, partials, level);
}

void AttendItem(const AttentionCall& call, const AttentionItem& item, float* memory,
                const AttentionPartials& partials, PrefetchLevel level) {
  switch (call.kv_type) {
    case KvType::kFp16:
      return AttendLayout<hwy::float16_t>(call, item, memory, partials, level);
    case KvType::kBf16:
      return AttendLayout<hwy::bfloat16_t>(call, item, memory, partials, level);
    case KvType::kFp32:
      return AttendLayout<float>(call, item, memory, partials, level);
    case KvType::kInt8:
      return AttendLayout<int8_t>(call, item, memory, partials, level);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace kvbench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kvbench {

HWY_EXPORT(AttendItem);

struct CpuAttention::Scratch {
  std::vector<Buffer> workspaces;  // one for each thread
  Buffer partials;
  // Items of each split that are still to come.
  std::unique_ptr<std::atomic<int32_t>[]> pending;
  size_t pending_size = 0;

  static float* Reserve(int64_t floats, Buffer& buffer) {
    const size_t bytes = static_cast<size_t>(floats) * sizeof(float);
    if (buffer.size() < bytes) buffer = Buffer(bytes);
    return buffer.as<float>();
  }

  AttentionPartials ReservePartials(int64_t rows, int64_t head_dim) {
    AttentionPartials result;
    result.out = Reserve(rows * (head_dim + 2), partials);
    result.largest = result.out + rows * head_dim;
    result.sum = result.largest + rows;
    return result;
  }

  void ReservePending(std::span<const AttentionSplit> splits) {
    if (pending_size < splits.size()) {
      pending = std::make_unique<std::atomic<int32_t>[]>(splits.size());
      pending_size = splits.size();
    }
    for (size_t i = 0; i < splits.size(); ++i) {
      pending[i].store(splits[i].num_items, std::memory_order_relaxed);
    }
  }
};

CpuAttention::CpuAttention(ThreadPool& pool, PrefetchLevel prefetch)
    : pool_(pool), prefetch_(prefetch), scratch_(std::make_unique<Scratch>()) {
  scratch_->workspaces.resize(static_cast<size_t>(pool.size()));
}

CpuAttention::~CpuAttention() = default;

namespace {

void MergeSplit(const AttentionCall& call, std::span<const AttentionItem> items,
                const AttentionPartials& partials) {
  const AttentionItem& first = items.front();
  const AttentionSequence& sequence = call.sequences[static_cast<size_t>(first.sequence)];
  const int64_t rows = int64_t{first.num_queries} * call.num_heads;
  float* const out =
      call.out + (sequence.first_query + first.first_query) * call.num_heads * call.head_dim;
  for (int64_t row = 0; row < rows; ++row) {
    MergePartialRow(partials, first.partial_row + row, rows, static_cast<int32_t>(items.size()),
                    call.head_dim, out + row * call.head_dim);
  }
}

}  // namespace

void CpuAttention::Run(const AttentionCall& call, const AttentionPlan& plan) {
  assert(call.version == AttentionCall::kVersion && plan.num_threads() == pool_.size());
  assert(call.head_dim % 16 == 0 && call.num_heads % call.num_kv_heads == 0);
  const int32_t group = call.num_heads / call.num_kv_heads;
  int64_t most_rows = 0;
  for (const AttentionItem& item : plan.items()) {
    most_rows = std::max(most_rows, int64_t{item.num_queries} * group);
  }
  if (most_rows == 0) return;
  Scratch& scratch = *scratch_;
  for (Buffer& workspace : scratch.workspaces) {
    Scratch::Reserve(AttentionWorkspace::Floats(call, most_rows), workspace);
  }
  const AttentionPartials partials = scratch.ReservePartials(plan.partial_rows(), call.head_dim);
  scratch.ReservePending(plan.splits());

  const auto attend = HWY_DYNAMIC_DISPATCH(AttendItem);
  pool_.Run([&](int thread) {
    float* const memory = scratch.workspaces[static_cast<size_t>(thread)].as<float>();
    for (const AttentionItem& item : plan.items(thread)) {
      attend(call, item, memory, partials, prefetch_);
      if (item.split < 0) continue;
      const auto split = static_cast<size_t>(item.split);
      if (scratch.pending[split].fetch_sub(1, std::memory_order_acq_rel) == 1) {
        const AttentionSplit& pieces = plan.splits()[split];
        MergeSplit(call,
                   plan.items().subspan(static_cast<size_t>(pieces.first_item),
                                        static_cast<size_t>(pieces.num_items)),
                   partials);
      }
    }
  });
}

}  // namespace kvbench
#endif
