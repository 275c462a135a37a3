#include "bench/micro/kv_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "base/error.h"
#include "bench/micro/aged_blocks.h"
#include "kernels/reference/attention.h"

namespace kvbench::micro {

namespace {

/// Whether writing numbers of the pattern leaves words that are small finite numbers in every type.
/// Converted to fp16 they become 2^-7 to 2, which are small in bf16 too; bf16 and fp32 keep the
/// bits.
bool WriteKeepsPattern(KvType type) {
  switch (type) {
    case KvType::kFp16:
    case KvType::kBf16:
    case KvType::kFp32:
      return true;
    case KvType::kInt8:  // any bytes
      return false;
  }
  return false;
}

/// Useful bytes of K and V of so many tokens.
int64_t KvBytes(const KvShape& shape, int64_t tokens) {
  AttentionSequence sequence;
  sequence.num_queries = 1;
  sequence.context = 1;
  AttentionCall call;
  call.kv_type = shape.kv_type;
  call.num_kv_heads = shape.num_kv_heads;
  call.head_dim = shape.head_dim;
  call.sequences = {&sequence, 1};
  return tokens * AttentionKvBytes(call);
}

HeadStride StrideOf(Placement placement) {
  return placement == Placement::kContiguousPadded ? HeadStride::kPadded : HeadStride::kUnpadded;
}

}  // namespace

const char* KvTypeName(KvType type) {
  switch (type) {
    case KvType::kFp16:
      return "fp16";
    case KvType::kBf16:
      return "bf16";
    case KvType::kFp32:
      return "fp32";
    case KvType::kInt8:
      return "int8";
  }
  return "unknown";
}

std::string KvShape::LayoutName() const {
  const auto paged = [&](const char* name) { return fmt::format("{}/block:{}", name, block_size); };
  const auto layout = [&]() -> std::string {
    switch (placement) {
      case Placement::kContiguousPadded:
        return "contiguous-padded";
      case Placement::kContiguousUnpadded:
        return "contiguous-unpadded";
      case Placement::kPagedIdentity:
        return paged("paged-identity");
      case Placement::kPagedShuffled:
        return paged("paged-shuffled");
      case Placement::kPagedAged:
        return paged("paged-aged");
    }
    return "unknown";
  };
  return fmt::format("{}/{}", layout(), KvTypeName(kv_type));
}

KvCase::KvCase(const KvShape& shape, Workbench& bench) : shape_(shape), bench_(bench) {
  const int64_t batch_bytes = KvBytes(shape, int64_t{shape.context} * shape.batch);
  const int64_t wanted =
      std::max<int64_t>(1, (bench.working_set_bytes() + batch_bytes - 1) / batch_bytes);
  const int64_t element = KvTypeBytes(shape.kv_type);
  const auto batches_in = [&](int64_t sequences) {
    const int64_t batches = std::min(wanted, sequences / shape.batch);
    if (batches == 0) {
      throw Error(fmt::format("a batch does not fit into {} MiB of K", bench.arena_bytes() >> 20),
                  Error::Kind::kMachine);
    }
    return batches * shape.batch;
  };
  if (IsPaged(shape.placement)) {
    attention_.layout = PagedLayout(shape.block_size, shape.num_kv_heads, shape.head_dim);
    const int64_t blocks =
        bench.arena_bytes() / (PagedPoolElements(attention_.layout, 1) * element);
    const int64_t each = RoundUp(shape.context, shape.block_size) / shape.block_size;
    // One in 32 stays free: an aged pool's watermark.
    const int64_t count = batches_in((blocks - blocks / 32) / each);
    PlacePagedSequences(count, std::min(blocks, count * each + count * each / 16 + 64));
  } else {
    attention_.layout = ContiguousLayout(shape.num_kv_heads, shape.head_dim);
    const int64_t chunk = RoundUp(shape.context, kContiguousUnit);
    const int64_t chunk_bytes =
        element * ContiguousPoolElements(chunk, shape.num_kv_heads, shape.head_dim,
                                         StrideOf(shape.placement));
    PlaceContiguousSequences(batches_in(bench.arena_bytes() / chunk_bytes));
  }

  const int32_t heads = shape.num_kv_heads * shape.group;
  const int64_t row = int64_t{heads} * shape.head_dim;
  const auto row_bytes = static_cast<size_t>(row * shape.batch * shape.queries) * sizeof(float);
  q_ = Buffer(row_bytes);
  out_ = Buffer(row_bytes);
  FillPattern(q_.as<void>(), static_cast<int64_t>(row_bytes), 3);

  attention_.kv_type = shape.kv_type;
  attention_.num_heads = heads;
  attention_.num_kv_heads = shape.num_kv_heads;
  attention_.head_dim = shape.head_dim;
  attention_.scale = 1.0F / std::sqrt(static_cast<float>(shape.head_dim));
  attention_.q = q_.as<float>();
  attention_.out = out_.as<float>();
  attention_.k = bench.k();
  attention_.v = bench.v();
  attention_.k_scales = bench.k_scales();
  attention_.v_scales = bench.v_scales();

  write_.kv_type = shape.kv_type;
  write_.num_kv_heads = shape.num_kv_heads;
  write_.head_dim = shape.head_dim;
  write_.k = write_.v = q_.as<float>();  // any numbers: q has at least as many a row
  write_.row_stride = row;
  write_.k_pool = bench.k();
  write_.v_pool = bench.v();
  write_.k_scales = bench.k_scales();
  write_.v_scales = bench.v_scales();
  write_.layout = attention_.layout;
  turn_ = -1;
  Next();
}

KvCase::~KvCase() {
  if (wrote_ && !WriteKeepsPattern(shape_.kv_type)) {
    bench_.RestoreArenas();
  }
}

void KvCase::Next() {
  ++turn_;
  const auto batch = static_cast<size_t>(shape_.batch);
  const auto first = static_cast<size_t>(turn_ % num_batches()) * batch;
  attention_.sequences = std::span(sequences_).subspan(first, batch);
}

const KvWriteCall& KvCase::write() {
  wrote_ = true;
  written_.assign(attention_.sequences.begin(), attention_.sequences.end());
  if (shape_.queries == 1) {
    const auto position = static_cast<int32_t>(turn_ / num_batches() % shape_.context);
    for (AttentionSequence& sequence : written_) {
      sequence.context = position + 1;
    }
  }
  write_.sequences = written_;
  return write_;
}

void KvCase::PlaceContiguousSequences(int64_t count) {
  const int64_t chunk = RoundUp(shape_.context, kContiguousUnit);
  for (int64_t i = 0; i < count; ++i) {
    const ContiguousPlacement place = PlaceContiguous(i * chunk, chunk, shape_.num_kv_heads,
                                                      shape_.head_dim, StrideOf(shape_.placement));
    AttentionSequence sequence;
    sequence.first_query = i % shape_.batch * shape_.queries;
    sequence.num_queries = shape_.queries;
    sequence.context = shape_.context;
    sequence.base = place.base;
    sequence.head_stride = place.head_stride;
    sequences_.push_back(sequence);
  }
}

void KvCase::PlacePagedSequences(int64_t count, int64_t num_blocks) {
  const int64_t each = RoundUp(shape_.context, shape_.block_size) / shape_.block_size;
  if (shape_.placement == Placement::kPagedAged) {
    blocks_ = AgedBlocks(static_cast<int32_t>(num_blocks), shape_.block_size, shape_.context,
                         static_cast<int32_t>(count));
  } else {
    blocks_.resize(static_cast<size_t>(count * each));
    std::iota(blocks_.begin(), blocks_.end(), 0);
  }
  if (shape_.placement == Placement::kPagedShuffled) {
    std::shuffle(blocks_.begin(), blocks_.end(), std::mt19937(1));
  }
  for (int64_t i = 0; i < count; ++i) {
    AttentionSequence sequence;
    sequence.first_query = i % shape_.batch * shape_.queries;
    sequence.num_queries = shape_.queries;
    sequence.context = shape_.context;
    sequence.blocks = blocks_.data() + i * each;
    sequences_.push_back(sequence);
  }
}

double KvCase::OutputError() const {
  std::vector<double> expected(static_cast<size_t>(shape_.head_dim));
  const int64_t sequence = shape_.batch - 1;
  ReferenceAttentionRow(attention_, sequence, shape_.queries - 1, attention_.num_heads - 1,
                        expected.data());
  const int64_t row = int64_t{shape_.batch} * shape_.queries * attention_.num_heads - 1;
  const float* const actual = attention_.out + row * shape_.head_dim;
  double difference = 0;
  double largest = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    const double delta = std::abs(static_cast<double>(actual[i]) - expected[i]);
    if (std::isnan(delta)) {
      return delta;
    }
    difference = std::max(difference, delta);
    largest = std::max(largest, std::abs(expected[i]));
  }
  return difference / largest;
}

int64_t KvCase::kv_bytes() const { return AttentionKvBytes(attention_); }

int64_t KvCase::written_bytes() const {
  return KvBytes(shape_, int64_t{shape_.batch} * shape_.queries);
}

double KvCase::visible_keys() const {
  const auto queries = static_cast<double>(shape_.queries);
  const auto before = static_cast<double>(shape_.context - shape_.queries);
  const double visible = queries * before + queries * (queries + 1) / 2;
  return visible * shape_.batch * attention_.num_heads;
}

}  // namespace kvbench::micro
