#include "bench/executors/cpu_roofs.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <functional>

#include "bench/executors/cpu_caches.h"
#include "bench/executors/cpu_executor.h"
#include "bench/executors/kv_pools.h"
#include "bench/executors/roof_workloads.h"
#include "kernels/cpu/read_roof.h"

namespace kvbench {

namespace {

constexpr std::array<int64_t, 9> kRows = {1, 2, 4, 8, 16, 32, 64, 128, 256};
constexpr std::array<int64_t, 4> kPromptTokens = {16, 64, 256, KvWorkload::kMaxPrompt};

/// The value at a share of the way through the sorted values, the nearest one.
double Quantile(std::vector<double> values, double share) {
  assert(!values.empty());
  std::sort(values.begin(), values.end());
  const double at = std::round(share * static_cast<double>(values.size() - 1));
  return values[static_cast<size_t>(at)];
}

double MedianOf(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

/// Quantities that are measured in turn.
class Rounds {
 public:
  /// Returns the quantity's number.
  size_t Add(std::function<double()> measure) {
    quantities_.push_back({std::move(measure), {}});
    return quantities_.size() - 1;
  }

  void Run(double seconds) {
    constexpr int kLeast = 3;
    for (const Quantity& quantity : quantities_) {
      quantity.measure();  // not counted: code, pages and threads become warm
    }
    const auto begin = std::chrono::steady_clock::now();
    const auto elapsed = [&] {
      return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    };
    for (int round = 0; round < kLeast || elapsed() < seconds; ++round) {
      for (Quantity& quantity : quantities_) {
        quantity.samples.push_back(quantity.measure());
      }
    }
  }

  const std::vector<double>& samples(size_t number) const { return quantities_[number].samples; }
  double median(size_t number) const { return MedianOf(samples(number)); }

 private:
  struct Quantity {
    std::function<double()> measure;
    std::vector<double> samples;
  };
  std::vector<Quantity> quantities_;
};

double MeasureDispatch(ThreadPool& pool) {
  constexpr int kCalls = 256;
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < kCalls; ++i) {
    pool.Run([](int) {});
  }
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / kCalls;
}

/// The two kinds of steps that a DecodeRoof is a line through, with the numbers of their
/// measurements.
struct DecodePair {
  KvWorkload::Decodes short_ones;
  KvWorkload::Decodes long_ones;
  size_t short_number = 0;
  size_t long_number = 0;
};

/// Without the dispatch that every call begins with. Where that is most of it, the difference is
/// noise: a quarter is left.
double WithoutDispatch(double seconds, double dispatch) {
  return std::max(seconds - dispatch, seconds / 4);
}

/// Seconds of a (sequence x KV head) at both contexts give the line.
DecodeRoof FitDecode(const DecodePair& pair, const Rounds& rounds, double dispatch,
                     double kv_heads) {
  constexpr double kShort = KvWorkload::kShortContext;
  constexpr double kLong = KvWorkload::kLongContext;
  const auto per_head = [&](size_t number, const KvWorkload::Decodes& decodes) {
    return WithoutDispatch(rounds.median(number), dispatch) /
           (static_cast<double>(decodes.batch) * kv_heads);
  };
  const double at_short = per_head(pair.short_number, pair.short_ones);
  const double at_long = per_head(pair.long_number, pair.long_ones);
  DecodeRoof roof;
  roof.block_size = pair.long_ones.layout.block_size;
  const double slope = (at_long - at_short) / (kLong - kShort);
  // A disturbed measurement may put the line below zero at one end: then a line through zero.
  roof.seconds_per_key = slope > 0 ? std::min(slope, at_long / kLong) : at_long / kLong;
  roof.seconds_per_head = std::max(0.0, at_short - kShort * roof.seconds_per_key);
  return roof;
}

/// The median over the measurements of what `figure` gives of each.
template <typename Figure>
double MedianFigure(std::span<const CpuRoofs> roofs, const Figure& figure) {
  std::vector<double> values;
  for (const CpuRoofs& measured : roofs) {
    values.push_back(figure(measured));
  }
  return MedianOf(std::move(values));
}

void CombineTable(std::span<const CpuRoofs> roofs, std::vector<RowRoof> CpuRoofs::*table,
                  CpuRoofs& into) {
  for (size_t i = 0; i < (into.*table).size(); ++i) {
    (into.*table)[i].seconds = MedianFigure(roofs, [&](const CpuRoofs& measured) {
      assert((measured.*table)[i].rows == (into.*table)[i].rows);
      return (measured.*table)[i].seconds;
    });
  }
}

/// A value at `rows`, between the first and the last point, on straight lines through
/// value(point).
template <typename Value>
double Between(std::span<const RowRoof> table, double rows, const Value& value) {
  size_t right = 1;
  while (static_cast<double>(table[right].rows) < rows) {
    ++right;
  }
  const RowRoof& low = table[right - 1];
  const RowRoof& high = table[right];
  const double share =
      (rows - static_cast<double>(low.rows)) / static_cast<double>(high.rows - low.rows);
  return value(low) + share * (value(high) - value(low));
}

}  // namespace

CpuRoofs MeasureCpuRoofs(const ModelShape& model, Dtype kv_dtype, ThreadPool& pool,
                         const CpuRoofOptions& options) {
  CpuExecutor::CheckKernels(model, kv_dtype);
  const int64_t bytes = options.working_set_bytes > 0 ? options.working_set_bytes
                                                      : MemoryWorkingSet(CpuCaches(), pool.size());
  ReadRoof read(static_cast<size_t>(bytes));
  LayerWorkload layers(model, WeightTypeOf(options.dtype), bytes, options.model_weights,
                       kRows.back(), pool);
  KvWorkload kv(model, KvTypeOf(kv_dtype), bytes, options.block_sizes, pool);

  Rounds rounds;
  const size_t read_number = rounds.Add([&] { return read.Measure(pool); });
  std::vector<size_t> dense_numbers;
  std::vector<size_t> elementwise_numbers;
  LayerWorkload::Result layer;
  for (const int64_t rows : kRows) {
    dense_numbers.push_back(rounds.Add([&, rows] {
      layer = layers.Run(rows);
      return layer.dense_s;
    }));
    elementwise_numbers.push_back(rounds.Add([&] { return layer.elementwise_s; }));
  }
  std::vector<DecodePair> decodes(options.block_sizes.size());
  for (size_t i = 0; i < decodes.size(); ++i) {
    DecodePair& pair = decodes[i];
    pair.short_ones = kv.MakeDecodes(options.block_sizes[i], KvWorkload::kShortContext);
    pair.long_ones = kv.MakeDecodes(options.block_sizes[i], KvWorkload::kLongContext);
    pair.short_number = rounds.Add([&kv, &pair] { return kv.Decode(pair.short_ones); });
    pair.long_number = rounds.Add([&kv, &pair] { return kv.Decode(pair.long_ones); });
  }
  KvWorkload::Decodes written = kv.MakeDecodes(0, KvWorkload::kShortContext);
  const size_t write_number = rounds.Add([&] { return kv.Write(written); });
  std::vector<size_t> prefill_numbers;
  prefill_numbers.reserve(kPromptTokens.size());
  for (const int64_t tokens : kPromptTokens) {
    prefill_numbers.push_back(
        rounds.Add([&kv, tokens] { return kv.Prefill(static_cast<int32_t>(tokens)); }));
  }
  const size_t dispatch_number = rounds.Add([&] { return MeasureDispatch(pool); });
  rounds.Run(options.seconds);

  CpuRoofs roofs;
  roofs.threads = pool.size();
  roofs.read_bytes_per_s = rounds.median(read_number);
  const std::vector<double>& reads = rounds.samples(read_number);
  roofs.read_spread = (Quantile(reads, 0.9) - Quantile(reads, 0.1)) / roofs.read_bytes_per_s;
  for (size_t i = 0; i < kRows.size(); ++i) {
    roofs.dense.push_back({kRows[i], rounds.median(dense_numbers[i])});
    roofs.elementwise.push_back(
        {kRows[i], rounds.median(elementwise_numbers[i]) / static_cast<double>(model.hidden_size)});
  }
  roofs.dispatch_s = rounds.median(dispatch_number);
  roofs.decode.reserve(decodes.size());
  for (const DecodePair& pair : decodes) {
    roofs.decode.push_back(
        FitDecode(pair, rounds, roofs.dispatch_s, static_cast<double>(model.num_key_value_heads)));
  }
  for (size_t i = 0; i < kPromptTokens.size(); ++i) {
    const auto tokens = static_cast<int32_t>(kPromptTokens[i]);
    roofs.prefill.push_back(
        {tokens, WithoutDispatch(rounds.median(prefill_numbers[i]), roofs.dispatch_s) /
                     kv.PrefillVisible(tokens)});
  }
  roofs.kv_write_bytes_per_s = static_cast<double>(written.batch * kv.token_bytes()) /
                               WithoutDispatch(rounds.median(write_number), roofs.dispatch_s);
  return roofs;
}

CpuRoofs Combine(std::span<const CpuRoofs> roofs) {
  assert(!roofs.empty());
  CpuRoofs combined = roofs.front();
  const auto median = [&](double CpuRoofs::*member) {
    combined.*member = MedianFigure(roofs, [&](const CpuRoofs& r) { return r.*member; });
  };
  median(&CpuRoofs::read_bytes_per_s);
  median(&CpuRoofs::kv_write_bytes_per_s);
  median(&CpuRoofs::dispatch_s);
  CombineTable(roofs, &CpuRoofs::dense, combined);
  CombineTable(roofs, &CpuRoofs::elementwise, combined);
  CombineTable(roofs, &CpuRoofs::prefill, combined);
  for (size_t i = 0; i < combined.decode.size(); ++i) {
    combined.decode[i].seconds_per_key =
        MedianFigure(roofs, [&](const CpuRoofs& r) { return r.decode[i].seconds_per_key; });
    combined.decode[i].seconds_per_head =
        MedianFigure(roofs, [&](const CpuRoofs& r) { return r.decode[i].seconds_per_head; });
  }
  const auto [least, most] = std::minmax_element(
      roofs.begin(), roofs.end(),
      [](const CpuRoofs& a, const CpuRoofs& b) { return a.read_bytes_per_s < b.read_bytes_per_s; });
  combined.read_spread =
      (most->read_bytes_per_s - least->read_bytes_per_s) / combined.read_bytes_per_s;
  for (const CpuRoofs& measured : roofs) {
    assert(measured.threads == combined.threads);
    combined.read_spread = std::max(combined.read_spread, measured.read_spread);
  }
  return combined;
}

double SecondsAt(std::span<const RowRoof> table, double rows) {
  assert(!table.empty() && rows >= 0);
  const auto first = static_cast<double>(table.front().rows);
  const auto last = static_cast<double>(table.back().rows);
  if (rows <= 0) {
    return 0;
  }
  if (rows <= first) {
    return table.front().seconds;
  }
  if (rows >= last) {
    return table.back().seconds * rows / last;
  }
  return Between(table, rows, [](const RowRoof& point) { return point.seconds; });
}

double SecondsPerVisibleKey(std::span<const RowRoof> prefill, double tokens) {
  assert(!prefill.empty() && tokens > 0);
  const auto of_row = [](const RowRoof& point) {
    return point.seconds * static_cast<double>(point.rows);
  };
  if (tokens <= static_cast<double>(prefill.front().rows)) {
    return of_row(prefill.front()) / tokens;
  }
  if (tokens >= static_cast<double>(prefill.back().rows)) {
    return prefill.back().seconds;
  }
  return Between(prefill, tokens, of_row) / tokens;
}

}  // namespace kvbench
