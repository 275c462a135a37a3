#include "bench/engine/latency.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>

namespace kvbench {

namespace {

double AsDouble(UInt128 value) {
  return static_cast<double>(static_cast<uint64_t>(value >> 64)) * 0x1p64 +
         static_cast<double>(static_cast<uint64_t>(value));
}

}  // namespace

LatencySamples::LatencySamples(Keep keep) : keep_(keep) {
  if (keep == Keep::kHistogram) {
    buckets_.resize(BucketOf(INT64_MAX) + 1);
  }
}

/// Values below 2^8 have a bucket each; above, a value's seven bits behind its leading one choose.
size_t LatencySamples::BucketOf(int64_t ps) {
  const auto value = static_cast<uint64_t>(ps);
  const auto width = static_cast<int>(std::bit_width(value));
  if (width <= kBucketBits + 1) {
    return static_cast<size_t>(value);
  }
  const int shift = width - kBucketBits - 1;
  return static_cast<size_t>(shift) * (size_t{1} << kBucketBits) +
         static_cast<size_t>(value >> shift);
}

int64_t LatencySamples::LowerEdge(size_t bucket) {
  constexpr size_t kPerPower = size_t{1} << kBucketBits;
  if (bucket < 2 * kPerPower) {
    return static_cast<int64_t>(bucket);
  }
  const size_t shift = bucket / kPerPower - 1;
  return static_cast<int64_t>((kPerPower + bucket % kPerPower) << shift);
}

/// With a = first, d = growth and n = steps the sum is n a + d n(n-1)/2, and that of the squares
/// n a^2 + a d n(n-1) + d^2 (n-1)n(2n-1)/6.
void LatencySamples::AddSums(int64_t first_ps, int64_t growth_ps, int64_t steps, int64_t times) {
  const int64_t pairs = steps * (steps - 1);
  sum_ += (Int128{steps} * first_ps + Int128{pairs / 2} * growth_ps) * times;
  const auto a = static_cast<UInt128>(first_ps);
  UInt128 squares = static_cast<UInt128>(steps) * (a * a);
  if (growth_ps > 0 && steps > 1) {
    const auto d = static_cast<UInt128>(growth_ps);
    squares += a * d * static_cast<UInt128>(pairs) +
               d * d * static_cast<UInt128>(pairs * (2 * steps - 1) / 6);
  }
  // Low and high halves apart: one square alone may fill 126 bits.
  const auto low = static_cast<uint64_t>(squares) * static_cast<UInt128>(times);
  const auto high = static_cast<uint64_t>(squares >> 64) * static_cast<UInt128>(times) +
                    static_cast<uint64_t>(low >> 64);
  const UInt128 sum = high << 64 | static_cast<uint64_t>(low);
  squares_low_ += sum;
  squares_high_ += static_cast<uint64_t>(high >> 64) + (squares_low_ < sum ? 1 : 0);
}

void LatencySamples::Add(int64_t ps, int64_t times) {
  if (times > 0) {
    AddSeries(ps, 0, 1, times);
  }
}

void LatencySamples::AddSeries(int64_t first_ps, int64_t growth_ps, int64_t steps, int64_t times) {
  if (steps == 0 || times == 0) {
    return;
  }
  assert(first_ps >= 0 && growth_ps >= 0);
  const int64_t last_ps = first_ps + growth_ps * (steps - 1);
  min_ = count_ == 0 ? first_ps : std::min(min_, first_ps);
  max_ = std::max(max_, last_ps);
  count_ += steps * times;
  AddSums(first_ps, growth_ps, steps, times);
  if (keep_ == Keep::kValues) {
    sorted_ = false;
    for (int64_t step = 0; step < steps; ++step) {
      values_.emplace_back(first_ps + step * growth_ps, times);
    }
    return;
  }
  const size_t last_bucket = BucketOf(last_ps);
  for (int64_t step = 0; step < steps;) {
    const int64_t value = first_ps + step * growth_ps;
    const size_t bucket = BucketOf(value);
    int64_t inside = steps - step;
    if (bucket != last_bucket) {
      // As many as stay below the next bucket's edge.
      inside = std::min(inside, (LowerEdge(bucket + 1) - 1 - value) / growth_ps + 1);
    }
    buckets_[bucket] += inside * times;
    step += inside;
  }
}

std::optional<double> LatencySamples::Mean() const {
  if (count_ == 0) {
    return std::nullopt;
  }
  return static_cast<double>(sum_) / static_cast<double>(count_);
}

std::optional<double> LatencySamples::PopulationStd() const {
  if (count_ == 0) {
    return std::nullopt;
  }
  if (min_ == max_) {
    return 0.0;
  }
  if (keep_ == Keep::kValues) {
    Sort();
    const double mean = *Mean();
    double squares = 0;
    for (const auto& [ps, times] : values_) {
      const double off = static_cast<double>(ps) - mean;
      squares += off * off * static_cast<double>(times);
    }
    return std::sqrt(squares / static_cast<double>(count_));
  }
  const double mean = *Mean();
  const double mean_of_squares =
      (static_cast<double>(squares_high_) * 0x1p64 * 0x1p64 + AsDouble(squares_low_)) /
      static_cast<double>(count_);
  return std::sqrt(std::max(0.0, mean_of_squares - mean * mean));
}

std::optional<double> LatencySamples::Percentile(double percent) const {
  if (count_ == 0) {
    return std::nullopt;
  }
  const double position = percent * static_cast<double>(count_ - 1) / 100;
  const auto below = static_cast<int64_t>(std::floor(position));
  const double part = position - static_cast<double>(below);
  const double low = ValueAt(below);
  if (part == 0 || below + 1 >= count_) {
    return low;
  }
  const double high = ValueAt(below + 1);
  return part < 0.5 ? low + (high - low) * part : high - (high - low) * (1 - part);
}

void LatencySamples::Sort() const {
  if (sorted_) {
    return;
  }
  std::sort(values_.begin(), values_.end());
  size_t merged = 0;
  for (size_t i = 1; i < values_.size(); ++i) {
    if (values_[i].first == values_[merged].first) {
      values_[merged].second += values_[i].second;
    } else {
      values_[++merged] = values_[i];
    }
  }
  values_.resize(values_.empty() ? 0 : merged + 1);
  sorted_ = true;
}

/// The value of rank 0 .. count - 1.
double LatencySamples::ValueAt(int64_t rank) const {
  if (keep_ == Keep::kValues) {
    Sort();
    for (const auto& [ps, times] : values_) {
      if (rank < times) {
        return static_cast<double>(ps);
      }
      rank -= times;
    }
    return static_cast<double>(max_);
  }
  if (rank == 0) {
    return static_cast<double>(min_);
  }
  if (rank == count_ - 1) {
    return static_cast<double>(max_);
  }
  for (size_t bucket = 0; bucket < buckets_.size(); ++bucket) {
    if (rank < buckets_[bucket]) {
      const double low = static_cast<double>(LowerEdge(bucket));
      const double high = static_cast<double>(LowerEdge(bucket + 1) - 1);
      return std::clamp((low + high) / 2, static_cast<double>(min_), static_cast<double>(max_));
    }
    rank -= buckets_[bucket];
  }
  return static_cast<double>(max_);
}

}  // namespace kvbench
