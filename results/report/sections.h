#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "results/report/chart.h"
#include "results/table/table_rows.h"

namespace kvbench {

struct CompareReport;

// The parts of the page, each from its own kind of input. A section without tables and charts has
// nothing to show. Groups are those of GroupRuns with Grouping::kTraceName.

/// How each run was judged against a base, what needs looking at first, and the fields that changed
/// with both values.
ReportSection VerdictSection(const CompareReport& report);

/// Where the KV memory goes: stacked bars for each design, the vLLM paper's figure 2.
ReportSection UsageSection(const std::vector<TableGroup>& groups);

/// Most timelines that the page shows.
inline constexpr size_t kMostTimelines = 12;

/// The same over time, with running and waiting requests, where runs have timelines.
ReportSection TimelineSection(const std::vector<TableGroup>& groups);

/// Latency over request rates and over throughput, where rates vary.
ReportSection RateSection(const std::vector<TableGroup>& groups);

/// Percentiles, and all requests' latencies of runs that kept them.
ReportSection LatencySection(const std::vector<TableGroup>& groups);

/// Usage and throughput over block sizes, where a design has several.
ReportSection BlockSizeSection(const std::vector<TableGroup>& groups);

/// Bytes a second of the kernels against the roof measured beside them, from kvbench_micro's JSON.
/// Throws Error where there is none in it.
ReportSection KernelSection(std::string_view benchmark_json);

/// The sections of `kvbench paper --out`: ours beside what is published. Throws Error.
std::vector<ReportSection> PaperSections(std::string_view paper_json);

/// A number with three or four digits that matter: "1,234", "12.3", "0.0123"; "-" for nothing.
std::string ShortNumber(const std::optional<double>& value);

/// A cell with a number, shown like that.
ReportCell NumberCell(const std::optional<double>& value);

/// "paged/16", with the axes that vary in the group behind it, but for those in `but`.
std::string SeriesName(const TableGroup& group, const TableRow& row,
                       const std::vector<std::string>& but = {});

}  // namespace kvbench
