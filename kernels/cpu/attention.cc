#include "kernels/cpu/attention.h"

#include <algorithm>
#include <atomic>
#include <cassert>
#include <cmath>

#include "kernels/cpu/attention_kernel.h"
#include "kernels/cpu/buffer.h"
#include "kernels/partial_softmax.h"

namespace kvbench {

namespace {

struct NaturalPowers {
  static float Exp(float x) { return std::exp(x); }
  static float Max(float a, float b) { return std::max(a, b); }
};

/// KV heads that are worked together. Head by head, a decode of a contiguous cache or of large
/// blocks is two long streams; the heads of a small block lie together. int8 is bound by
/// instructions and gains more from heads side by side, of which one starts while another waits for
/// its softmax.
int32_t HeadsAtOnce(const AttentionCall& call, const AttentionItem& item, const KvAccessor& kv,
                    int64_t rows) {
  const bool one_head =
      call.kv_type != KvType::kInt8 && item.num_queries == 1 && kv.run_tokens() > kKeyTile;
  return one_head ? 1 : AttentionWorkspace::HeadChunk(call, rows);
}

// Row order in the workspace is [head, query, head of the group].
template <typename Visit>
void ForEachRow(const AttentionTask& task, const Visit& visit) {
  const int group = task.call.num_heads / task.call.num_kv_heads;
  int64_t row = 0;
  for (int head = task.heads.first; head < task.heads.first + task.heads.count; ++head) {
    for (int query = 0; query < task.item.num_queries; ++query) {
      for (int member = 0; member < group; ++member) visit(row++, query, head * group + member);
    }
  }
}

void LoadQueries(const AttentionTask& task) {
  const AttentionCall& call = task.call;
  const AttentionWorkspace& work = task.work;
  const AttentionSequence& sequence = call.sequences[static_cast<size_t>(task.item.sequence)];
  const int64_t stride =
      call.q_row_stride != 0 ? call.q_row_stride : int64_t{call.num_heads} * call.head_dim;
  const float* const q = call.q + (sequence.first_query + task.item.first_query) * stride;
  ForEachRow(task, [&](int64_t row, int query, int head) {
    const float* const from = q + query * stride + int64_t{head} * call.head_dim;
    float* const to = work.q() + row * call.head_dim;
    float* const out = work.out() + row * call.head_dim;
    for (int i = 0; i < call.head_dim; ++i) {
      to[i] = call.scale * from[i];
      out[i] = 0;
    }
    work.largest()[row] = -INFINITY;
    work.sum()[row] = 0;
  });
}

void StoreResults(const AttentionTask& task, const AttentionPartials& partials) {
  const AttentionCall& call = task.call;
  const AttentionWorkspace& work = task.work;
  const AttentionSequence& sequence = call.sequences[static_cast<size_t>(task.item.sequence)];
  ForEachRow(task, [&](int64_t row, int query, int head) {
    float* to = nullptr;
    float factor = 1.0f;
    if (task.item.split >= 0) {
      const int64_t partial = task.item.partial_row + int64_t{query} * call.num_heads + head;
      to = partials.out + partial * call.head_dim;
      partials.largest[partial] = work.largest()[row];
      partials.sum[partial] = work.sum()[row];
    } else {
      const int64_t out_row = sequence.first_query + task.item.first_query + query;
      to = call.out + (out_row * call.num_heads + head) * call.head_dim;
      factor = work.sum()[row] > 0 ? 1.0f / work.sum()[row] : 0.0f;
    }
    const float* const from = work.out() + row * call.head_dim;
    for (int i = 0; i < call.head_dim; ++i) to[i] = factor * from[i];
  });
}

void AttendItem(const CpuAttentionKernel& kernel, const AttentionCall& call,
                const AttentionItem& item, float* memory, const AttentionPartials& partials,
                PrefetchLevel prefetch) {
  const KvAccessor kv(call.layout, call.sequences[static_cast<size_t>(item.sequence)]);
  const int64_t rows = int64_t{item.num_queries} * (call.num_heads / call.num_kv_heads);
  const int chunk = HeadsAtOnce(call, item, kv, rows);
  const AttentionWorkspace work(memory, rows, chunk, call.head_dim);
  for (int head = 0; head < call.num_kv_heads; head += chunk) {
    const HeadRange heads{head, std::min(chunk, call.num_kv_heads - head)};
    const AttentionTask task{call, item, kv, heads, work, prefetch};
    LoadQueries(task);
    kernel.attend(task);
    StoreResults(task, partials);
  }
}

}  // namespace

void MergePartialRow(const AttentionPartials& partials, int64_t first_row, int64_t row_stride,
                     int32_t pieces, int32_t head_dim, float* out) {
  const int64_t end_row = first_row + pieces * row_stride;
  PartialSoftmax<NaturalPowers> whole;
  for (int64_t row = first_row; row < end_row; row += row_stride) {
    whole.Raise(partials.largest[row]);
  }
  std::fill(out, out + head_dim, 0.0f);
  for (int64_t row = first_row; row < end_row; row += row_stride) {
    const float weight = whole.Add(partials.largest[row], partials.sum[row]);
    if (weight == 0) continue;
    const float* const piece = partials.out + row * head_dim;
    for (int32_t i = 0; i < head_dim; ++i) out[i] += weight * piece[i];
  }
  const float scale = whole.Scale();
  for (int32_t i = 0; i < head_dim; ++i) out[i] *= scale;
}

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

CpuAttention::CpuAttention(ThreadPool& pool, std::string_view kernel, PrefetchLevel prefetch)
    : pool_(pool), name_(kernel), prefetch_(prefetch), scratch_(std::make_unique<Scratch>()) {
  CheckCpuAttentionKernelName(kernel);
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

  const CpuAttentionKernel& kernel = FindCpuAttentionKernel(name_, CpuAttentionShape::Of(call));
  pool_.Run([&](int thread) {
    float* const memory = scratch.workspaces[static_cast<size_t>(thread)].as<float>();
    for (const AttentionItem& item : plan.items(thread)) {
      AttendItem(kernel, call, item, memory, partials, prefetch_);
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
