#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace kvbench {

/// A statistic of one latency. Everything that computes, writes, reads or shows them goes through
/// kLatencyStatistics: a new percentile is one more line of it.
struct LatencyStatistic {
  enum class Kind { kMean, kPopulationStd, kPercentile };
  std::string_view name;
  Kind kind;
  double percent = 0;  ///< of a percentile
  int since = 0;       ///< minor schema version that brought it, 0: there from the start
};

inline constexpr auto kLatencyStatistics = std::to_array<LatencyStatistic>({
    {"mean", LatencyStatistic::Kind::kMean},
    {"median", LatencyStatistic::Kind::kPercentile, 50},
    {"std", LatencyStatistic::Kind::kPopulationStd},  // ddof 0
    {"p50", LatencyStatistic::Kind::kPercentile, 50},
    {"p90", LatencyStatistic::Kind::kPercentile, 90},
    {"p95", LatencyStatistic::Kind::kPercentile, 95},
    {"p99", LatencyStatistic::Kind::kPercentile, 99},
    {"max", LatencyStatistic::Kind::kPercentile, 100},
});

/// Statistics of one latency in milliseconds, entry i of kLatencyStatistics[i]; all null where
/// nothing was measured. `stats["p99"]`; a name that is not in the list does not compile.
struct LatencyStats {
  class Name {
   public:
    consteval Name(const char* name) : index_(IndexOf(name)) {}  // NOLINT(*-explicit-*)
    constexpr size_t index() const { return index_; }

   private:
    static consteval size_t IndexOf(std::string_view name) {
      size_t index = 0;
      while (kLatencyStatistics.at(index).name != name) {
        ++index;
      }
      return index;
    }
    size_t index_;
  };

  std::array<std::optional<double>, kLatencyStatistics.size()> values;

  std::optional<double>& operator[](Name name) { return values[name.index()]; }
  const std::optional<double>& operator[](Name name) const { return values[name.index()]; }
};

/// All statistics of samples that have some.
/// @param samples has Mean(), PopulationStd() and Percentile(percent)
/// @param to_ms makes milliseconds of the samples' unit
template <typename Samples, typename ToMs>
LatencyStats StatisticsOf(const Samples& samples, const ToMs& to_ms) {
  LatencyStats stats;
  for (size_t i = 0; i < kLatencyStatistics.size(); ++i) {
    const LatencyStatistic& statistic = kLatencyStatistics[i];
    std::optional<double> value;
    switch (statistic.kind) {
      case LatencyStatistic::Kind::kMean:
        value = samples.Mean();
        break;
      case LatencyStatistic::Kind::kPopulationStd:
        value = samples.PopulationStd();
        break;
      case LatencyStatistic::Kind::kPercentile:
        value = samples.Percentile(statistic.percent);
        break;
    }
    if (value) {
      stats.values[i] = to_ms(*value);
    }
  }
  return stats;
}

}  // namespace kvbench
