#include "kernels/cpu/kv_write.h"

#include "kernels/cpu/kv_accessor.h"
#include "kernels/cpu/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/kv_write.cc"
#include "hwy/foreach_target.h"
//
#include "hwy/highway.h"
#include "kernels/cpu/convert-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kvbench {
namespace HWY_NAMESPACE {

template <typename T>
void WriteRow(const KvWriteCall& call, int64_t row, int64_t offset, int64_t head_stride) {
  const F32Tag d;
  const int dim = call.head_dim;
  const float* const k = call.k + row * call.row_stride;
  const float* const v = call.v + row * call.row_stride;
  T* const k_pool = static_cast<T*>(call.k_pool) + offset;
  T* const v_pool = static_cast<T*>(call.v_pool) + offset;
  for (int head = 0; head < call.num_kv_heads; ++head) {
    for (int i = 0; i < dim; i += kLanes) {
      StoreF32(hn::LoadU(d, k + head * dim + i), d, k_pool + head * head_stride + i);
      StoreF32(hn::LoadU(d, v + head * dim + i), d, v_pool + head * head_stride + i);
    }
  }
}

// Elements and the scale that gives the row back: the largest magnitude becomes 127.
float QuantizeRow(const float* HWY_RESTRICT row, int dim, int8_t* HWY_RESTRICT to) {
  const F32Tag d;
  const hn::Rebind<int8_t, F32Tag> d8;
  F32 top = hn::Zero(d);
  for (int i = 0; i < dim; i += kLanes) top = hn::Max(top, hn::Abs(hn::LoadU(d, row + i)));
  const float largest = hn::GetLane(hn::MaxOfLanes(d, top));
  const F32 factor = hn::Set(d, largest > 0 ? 127.0f / largest : 0.0f);
  for (int i = 0; i < dim; i += kLanes) {
    const auto rounded = hn::NearestInt(hn::Mul(hn::LoadU(d, row + i), factor));
    hn::StoreU(hn::DemoteTo(d8, rounded), d8, to + i);
  }
  return largest / 127.0f;
}

template <>
void WriteRow<int8_t>(const KvWriteCall& call, int64_t row, int64_t offset, int64_t head_stride) {
  const int dim = call.head_dim;
  for (int head = 0; head < call.num_kv_heads; ++head) {
    const int64_t at = offset + head * head_stride;
    const int64_t from = row * call.row_stride + head * dim;
    call.k_scales[at / dim] =
        QuantizeRow(call.k + from, dim, static_cast<int8_t*>(call.k_pool) + at);
    call.v_scales[at / dim] =
        QuantizeRow(call.v + from, dim, static_cast<int8_t*>(call.v_pool) + at);
  }
}

// Tokens [begin, end) of the call, counted over its sequences in order.
template <typename T>
void WriteTokens(const KvWriteCall& call, int64_t begin, int64_t end) {
  int64_t first = 0;
  for (const AttentionSequence& sequence : call.sequences) {
    if (first >= end) break;
    const int64_t from = std::max<int64_t>(begin - first, 0);
    const int64_t to = std::min<int64_t>(end - first, sequence.num_queries);
    first += sequence.num_queries;
    if (from >= to) continue;
    const KvAccessor kv(call.layout, sequence);
    const int32_t position = sequence.context - sequence.num_queries;
    for (int64_t query = from; query < to;) {
      const KvRun run = kv.RunAt(position + static_cast<int32_t>(query));
      const int64_t run_end = std::min(to, query + run.tokens);
      for (int64_t offset = run.offset; query < run_end; ++query, offset += kv.token_stride()) {
        WriteRow<T>(call, sequence.first_query + query, offset, kv.head_stride());
      }
    }
  }
}

void WriteKvRange(const KvWriteCall& call, int64_t begin, int64_t end) {
  switch (call.kv_type) {
    case KvType::kFp16:
      return WriteTokens<hwy::float16_t>(call, begin, end);
    case KvType::kBf16:
      return WriteTokens<hwy::bfloat16_t>(call, begin, end);
    case KvType::kFp32:
      return WriteTokens<float>(call, begin, end);
    case KvType::kInt8:
      return WriteTokens<int8_t>(call, begin, end);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace kvbench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kvbench {

HWY_EXPORT(WriteKvRange);

void WriteKv(ThreadPool& pool, const KvWriteCall& call) {
  int64_t tokens = 0;
  for (const AttentionSequence& sequence : call.sequences) tokens += sequence.num_queries;
  const auto write = HWY_DYNAMIC_DISPATCH(WriteKvRange);
  pool.Run([&](int thread) {
    const ThreadRange range = SplitRange(tokens, thread, pool.size());
    write(call, range.begin, range.end);
  });
}

}  // namespace kvbench
#endif
