#include "kernels/checks/attention_case.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "fmt/format.h"
#include "kernels/float16.h"
#include "kernels/reference/attention.h"

namespace kvbench {
namespace {

constexpr float kGuard = 12345.0f;
constexpr size_t kTableSize = size_t{1} << 19;
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

void PutElement(std::vector<uint8_t>& pool, KvType type, int64_t index, float value) {
  switch (type) {
    case KvType::kFp16:
      reinterpret_cast<uint16_t*>(pool.data())[index] = FloatToFp16(value);
      return;
    case KvType::kBf16:
      reinterpret_cast<uint16_t*>(pool.data())[index] = FloatToBf16(value);
      return;
    case KvType::kFp32:
      reinterpret_cast<float*>(pool.data())[index] = value;
      return;
    case KvType::kInt8:  // NaN has no such number: the row's scale stands for it
      pool[static_cast<size_t>(index)] =
          static_cast<uint8_t>(static_cast<int8_t>(std::isnan(value) ? 77 : std::lround(value)));
      return;
  }
}

int32_t DivideUp(int32_t a, int32_t b) { return (a + b - 1) / b; }

}  // namespace

NormalTable::NormalTable() : values_(kTableSize) {
  std::mt19937_64 random(20240607);
  std::normal_distribution<float> normal;
  for (float& value : values_) value = normal(random);
}

std::span<const float> NormalTable::Draw(size_t count, std::mt19937_64& random) const {
  const size_t begin = random() % (values_.size() - count);
  return std::span(values_).subspan(begin, count);
}

std::string AttentionCaseSpec::ToString() const {
  std::string text =
      fmt::format("type {} block {} group {} kv_heads {} dim {} sequences",
                  static_cast<int>(kv_type), block_size, group, num_kv_heads, head_dim);
  for (const Sequence& s : sequences) text += fmt::format(" {}/{}", s.num_queries, s.context);
  return text;
}

AttentionCase::AttentionCase(const AttentionCaseSpec& spec, const NormalTable& normals,
                             std::mt19937_64& random) {
  call_.kv_type = spec.kv_type;
  call_.num_heads = spec.group * spec.num_kv_heads;
  call_.num_kv_heads = spec.num_kv_heads;
  call_.head_dim = spec.head_dim;
  call_.scale = 1.0f / std::sqrt(static_cast<float>(spec.head_dim));
  PlaceSequences(spec, random);
  FillPools(spec, normals, random);

  const int64_t row = int64_t{call_.num_heads} * call_.head_dim;
  call_.q_row_stride = random() % 2 == 0 ? 0 : row + 16;
  const int64_t stride = call_.q_row_stride == 0 ? row : call_.q_row_stride;
  q_.assign(static_cast<size_t>(rows_ * stride), kNan);
  for (int64_t r = 0; r < rows_; ++r) {
    const auto values = normals.Draw(static_cast<size_t>(row), random);
    std::copy(values.begin(), values.end(), q_.begin() + r * stride);
  }
  ClearOutput();
  call_.q = q_.data();
  call_.sequences = sequences_;
}

void AttentionCase::ClearOutput() {
  // A guard row before and behind.
  const int64_t row = int64_t{call_.num_heads} * call_.head_dim;
  out_.assign(static_cast<size_t>((rows_ + 2) * row), kGuard);
  call_.out = out_.data() + row;
}

void AttentionCase::PlaceSequences(const AttentionCaseSpec& spec, std::mt19937_64& random) {
  const int64_t count = static_cast<int64_t>(spec.sequences.size());
  int32_t total_blocks = 0;
  int64_t total_slots = 0;
  if (spec.block_size == 0) {
    call_.layout = ContiguousLayout(spec.num_kv_heads, spec.head_dim);
  } else {
    call_.layout = PagedLayout(spec.block_size, spec.num_kv_heads, spec.head_dim);
    for (const auto& s : spec.sequences) total_blocks += DivideUp(s.context, spec.block_size);
    total_blocks += 3;  // owned by nobody
  }
  std::vector<int32_t> free(static_cast<size_t>(total_blocks));
  for (size_t i = 0; i < free.size(); ++i) free[i] = static_cast<int32_t>(i);
  std::shuffle(free.begin(), free.end(), random);

  blocks_.resize(static_cast<size_t>(count));
  for (size_t i = 0; i < spec.sequences.size(); ++i) {
    AttentionSequence sequence;
    sequence.context = spec.sequences[i].context;
    sequence.num_queries = spec.sequences[i].num_queries;
    sequence.first_query = rows_;
    rows_ += sequence.num_queries;
    if (spec.block_size == 0) {
      const int64_t unit = kContiguousUnit;
      const int64_t chunk = (sequence.context + unit - 1) / unit * unit;
      const auto place =
          PlaceContiguous(total_slots, chunk, spec.num_kv_heads, spec.head_dim, spec.head_stride);
      sequence.base = place.base;
      sequence.head_stride = place.head_stride;
      total_slots += chunk;
    } else {
      for (int32_t b = 0; b < DivideUp(sequence.context, spec.block_size); ++b) {
        blocks_[i].push_back(free.back());
        free.pop_back();
      }
      sequence.blocks = blocks_[i].data();
    }
    sequences_.push_back(sequence);
  }
  pool_elements_ = spec.block_size == 0 ? ContiguousPoolElements(total_slots, spec.num_kv_heads,
                                                                 spec.head_dim, spec.head_stride)
                                        : PagedPoolElements(call_.layout, total_blocks);
}

void AttentionCase::FillPools(const AttentionCaseSpec& spec, const NormalTable& normals,
                              std::mt19937_64& random) {
  const auto bytes = static_cast<size_t>(pool_elements_ * KvTypeBytes(spec.kv_type));
  for (std::vector<uint8_t>* pool : {&k_, &v_}) {
    std::vector<float>& scales = pool == &k_ ? k_scales_ : v_scales_;
    if (spec.kv_type == KvType::kInt8) {
      scales.assign(static_cast<size_t>(pool_elements_ / spec.head_dim), kNan);
    }
    pool->resize(bytes);
    for (int64_t i = 0; i < pool_elements_; ++i) PutElement(*pool, spec.kv_type, i, kNan);
    for (const AttentionSequence& sequence : sequences_) {
      for (int32_t head = 0; head < spec.num_kv_heads; ++head) {
        for (int32_t key = 0; key < sequence.context; ++key) {
          const int64_t offset = KvElementOffset(call_.layout, sequence, head, key);
          const auto values = normals.Draw(static_cast<size_t>(spec.head_dim), random);
          float factor = 1;
          if (spec.kv_type == KvType::kInt8) {
            float largest = 0;
            for (const float value : values) largest = std::max(largest, std::abs(value));
            factor = 127 / largest;
            scales[static_cast<size_t>(offset / spec.head_dim)] = largest / 127;
          }
          for (int32_t i = 0; i < spec.head_dim; ++i) {
            PutElement(*pool, spec.kv_type, offset + i, factor * values[static_cast<size_t>(i)]);
          }
        }
      }
    }
  }
  call_.k = k_.data();
  call_.v = v_.data();
  call_.k_scales = k_scales_.data();
  call_.v_scales = v_scales_.data();
}

double AttentionCase::RowError(int64_t sequence, int32_t query, int32_t head) const {
  std::vector<double> expected(static_cast<size_t>(call_.head_dim));
  ReferenceAttentionRow(call_, sequence, query, head, expected.data());
  const int64_t row = sequences_[static_cast<size_t>(sequence)].first_query + query;
  const float* const actual = call_.out + (row * call_.num_heads + head) * call_.head_dim;
  double difference = 0;
  double largest = 0;
  for (int32_t i = 0; i < call_.head_dim; ++i) {
    const double b = expected[static_cast<size_t>(i)];
    const double a = static_cast<double>(actual[i]);
    if (!std::isfinite(a) || !std::isfinite(b)) return std::numeric_limits<double>::quiet_NaN();
    difference = std::max(difference, std::abs(a - b));
    largest = std::max(largest, std::abs(b));
  }
  return difference / largest;
}

double AttentionCase::LargestError(int samples, std::mt19937_64& random) const {
  double largest = 0;
  const auto check = [&](int64_t sequence, int32_t query, int32_t head) {
    const double error = RowError(sequence, query, head);
    if (!(error <= largest)) largest = error;  // keeps NaN
  };
  const auto count = static_cast<int64_t>(sequences_.size());
  const bool all = rows_ * call_.num_heads <= samples;
  for (int64_t s = 0; s < count; ++s) {
    const int32_t queries = sequences_[static_cast<size_t>(s)].num_queries;
    for (int32_t query = all ? 0 : queries - 1; query < queries; ++query) {
      for (int32_t head = all ? 0 : call_.num_heads - 1; head < call_.num_heads; ++head) {
        check(s, query, head);
      }
    }
  }
  for (int i = static_cast<int>(count); i < samples && !all; ++i) {
    const auto s = static_cast<int64_t>(random() % static_cast<size_t>(count));
    const int32_t queries = sequences_[static_cast<size_t>(s)].num_queries;
    check(s, static_cast<int32_t>(random() % static_cast<size_t>(queries)),
          static_cast<int32_t>(random() % static_cast<size_t>(call_.num_heads)));
  }
  return largest;
}

bool AttentionCase::GuardsIntact() const {
  const int64_t row = int64_t{call_.num_heads} * call_.head_dim;
  const auto is_guard = [](float value) { return value == kGuard; };
  return std::all_of(out_.begin(), out_.begin() + row, is_guard) &&
         std::all_of(out_.end() - row, out_.end(), is_guard);
}

}  // namespace kvbench
