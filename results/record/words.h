#pragma once

#include <array>
#include <string_view>

namespace kvbench {

// The words that fields of a record are limited to. The schema lists them, and whoever fills the
// field takes them from here.

/// In the order of bench's SchedulerKind.
inline constexpr auto kSchedulerWords =
    std::to_array<std::string_view>({"continuous", "static", "faster-transformer"});
/// "cpu" and "cuda" measure, "modelled" computes.
inline constexpr auto kExecutorWords = std::to_array<std::string_view>({"cpu", "cuda", "modelled"});
/// How a contiguous cache grows: the chunk doubles, or is one of another slot for every token.
inline constexpr auto kGrowthWords = std::to_array<std::string_view>({"double", "concat"});
inline constexpr auto kAttentionWords =
    std::to_array<std::string_view>({"MHA", "GQA", "MQA", "MLA"});
inline constexpr auto kPreemptionWords =
    std::to_array<std::string_view>({"recompute", "swap", "none"});
/// Type 7, or within percentile_relative_error.
inline constexpr auto kPercentileWords = std::to_array<std::string_view>({"exact", "histogram"});

}  // namespace kvbench
