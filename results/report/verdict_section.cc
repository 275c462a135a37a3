#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "base/text.h"
#include "results/compare/writers/compare_writers.h"
#include "results/report/sections.h"

namespace kvbench {
namespace {

constexpr size_t kMostIntervals = 40;  // of a chart
constexpr size_t kMostFields = 500;    // of a table
constexpr const char* kKeys = "comparisons[].runs[].";

/// What fails first, then what is not known.
constexpr std::array<Verdict, kVerdicts> kOrder = {
    Verdict::kChanged,   Verdict::kSlower, Verdict::kUndecided, Verdict::kOnlyInBase,
    Verdict::kOnlyInNew, Verdict::kFaster, Verdict::kSame};

std::vector<const RunComparison*> Ordered(const Comparison& comparison) {
  std::vector<const RunComparison*> runs;
  for (const Verdict verdict : kOrder) {
    for (const RunComparison& run : comparison.runs) {
      if (run.verdict == verdict) {
        runs.push_back(&run);
      }
    }
  }
  return runs;
}

bool HasTimings(const Comparison& comparison) {
  return std::any_of(comparison.runs.begin(), comparison.runs.end(),
                     [](const RunComparison& run) { return !run.timings.empty(); });
}

/// Of a row with that timing; a changed run is that whatever its timings are.
Verdict RowVerdict(const RunComparison& run, const TimingComparison* timing) {
  return timing == nullptr || run.verdict == Verdict::kChanged ? run.verdict : timing->verdict;
}

std::string Title(const char* what, const Comparison& comparison) {
  return fmt::format("{}, {} against {}", what, comparison.next, comparison.base);
}

ReportCell Text(std::string_view text) { return {PrintableAscii(text), std::nullopt}; }

ReportCell Quantity(const std::optional<double>& value) {
  return {value ? QuantityText(*value) : "-", value};
}

ReportCell Ratio(const std::optional<double>& value) { return {Thousands(value, 3), value}; }

std::vector<ReportCell> TimingCells(const TimingComparison* timing) {
  if (timing == nullptr) {
    return std::vector<ReportCell>(6);
  }
  const std::optional<Interval>& interval = timing->interval;
  return {Text(timing->metric),
          Quantity(timing->base_median),
          Quantity(timing->next_median),
          Ratio(timing->slowdown),
          Ratio(interval ? std::optional(interval->low) : std::nullopt),
          Ratio(interval ? std::optional(interval->high) : std::nullopt)};
}

/// What a row's figures do not say. The run's own reasons stand in its first row.
std::string Why(const RunComparison& run, const TimingComparison* timing, bool first) {
  std::string why;
  const auto add = [&](const std::string& part) { why += (why.empty() ? "" : "; ") + part; };
  if (first && run.changes_in_all > 0) {
    const bool one = run.changes_in_all == 1;
    add(fmt::format("{} that had to be equal differ{}",
                    one ? "a value" : Thousands(run.changes_in_all) + " values", one ? "s" : ""));
  }
  if (timing != nullptr && !timing->why.empty()) {
    add(timing->why);
  }
  for (const std::string& note : run.notes) {
    if (first) {
      add(note);
    }
  }
  return why;
}

void AddRow(const RunComparison& run, const TimingComparison* timing, bool timings, bool first,
            ReportTable& table) {
  ReportRow& row = table.rows.emplace_back();
  row.label = run.label;
  row.cells = {Text(run.name),
               {std::string(VerdictName(RowVerdict(run, timing))), std::nullopt, true}};
  if (timings) {
    for (ReportCell& cell : TimingCells(timing)) {
      row.cells.push_back(std::move(cell));
    }
  }
  row.cells.push_back(Text(Why(run, timing, first)));
}

ReportTable VerdictTable(const Comparison& comparison, double threshold) {
  const bool timings = HasTimings(comparison);
  ReportTable table;
  table.title = Title("Verdicts", comparison);
  table.facts = {fmt::format("{}{}", SummaryText(comparison),
                             timings ? fmt::format(", threshold {:.3g} %", 100 * threshold) : "")};
  table.columns = {{"run", "", ""}, {"verdict", "", ""}};
  if (timings) {
    const std::string keys = std::string(kKeys) + "timings[].";
    table.columns.insert(table.columns.end(), {{"metric", "", ""},
                                               {"base", "median", keys + "base_median"},
                                               {"new", "median", keys + "new_median"},
                                               {"time", "new / base", keys + "slowdown"},
                                               {"at least", "95 %", keys + "interval_low"},
                                               {"at most", "95 %", keys + "interval_high"}});
  }
  table.columns.push_back({"why", "", "", true});
  for (const RunComparison* run : Ordered(comparison)) {
    if (run->timings.empty()) {
      AddRow(*run, nullptr, timings, true, table);
    }
    for (size_t i = 0; i < run->timings.size(); ++i) {
      AddRow(*run, &run->timings[i], timings, i == 0, table);
    }
  }
  for (const std::string& note : comparison.notes) {
    table.notes.push_back(note + ".");
  }
  return table;
}

/// A field's value as it stands in the file, and as a number where it is one.
ReportCell Value(const std::string& json) {
  double number = 0;
  const char* end = json.data() + json.size();
  const auto [rest, error] = std::from_chars(json.data(), end, number);
  const bool is_number = error == std::errc() && rest == end;
  return {PrintableAscii(json), is_number ? std::optional(number) : std::nullopt};
}

/// A field that changed in the same way in some repetitions of a run.
struct FoldedChange {
  const FieldChange* change = nullptr;
  std::vector<int64_t> repetitions;
};

std::vector<FoldedChange> Fold(const RunComparison& run) {
  std::vector<FoldedChange> folded;
  for (const FieldChange& change : run.changes) {
    const auto same = std::find_if(folded.begin(), folded.end(), [&](const FoldedChange& other) {
      return other.change->name == change.name && other.change->base == change.base &&
             other.change->next == change.next;
    });
    FoldedChange& place = same == folded.end() ? folded.emplace_back() : *same;
    place.change = &change;
    place.repetitions.push_back(change.repetition);
  }
  return folded;
}

/// "3", "0 to 8", "0, 2, 5".
std::string Repetitions(const std::vector<int64_t>& repetitions) {
  const int64_t last = repetitions.back();
  if (repetitions.size() > 2 && last - repetitions.front() == std::ssize(repetitions) - 1) {
    return fmt::format("{} to {}", repetitions.front(), last);
  }
  return fmt::format("{}", fmt::join(repetitions, ", "));
}

ReportTable FieldTable(const Comparison& comparison) {
  ReportTable table;
  table.title = Title("Changed fields", comparison);
  table.columns = {{"run", "", ""},
                   {"field", "", ""},
                   {"base", "", ""},
                   {"new", "", ""},
                   {"repetition", "", ""}};
  int64_t listed = 0;
  int64_t in_all = 0;
  for (const RunComparison* run : Ordered(comparison)) {
    in_all += run->changes_in_all;
    for (const FoldedChange& folded : Fold(*run)) {
      if (table.rows.size() == kMostFields) {
        break;
      }
      listed += std::ssize(folded.repetitions);
      table.rows.push_back({run->label,
                            {Text(run->name), Text(folded.change->name), Value(folded.change->base),
                             Value(folded.change->next), Text(Repetitions(folded.repetitions))}});
    }
  }
  if (in_all > listed) {
    table.notes.push_back(
        fmt::format("{} of {} changed values are listed.", Thousands(listed), Thousands(in_all)));
  }
  return table;
}

/// The series of a verdict; each has a place for every category.
ChartSeries& SeriesOf(Verdict verdict, ChartPanel& panel) {
  const std::string name(VerdictName(verdict));
  const auto known = std::find_if(panel.series.begin(), panel.series.end(),
                                  [&](const ChartSeries& series) { return series.name == name; });
  return known == panel.series.end() ? panel.series.emplace_back(ChartSeries{name, name}) : *known;
}

/// The ratios with their intervals, where some run has one.
std::optional<ReportChart> RatioChart(const Comparison& comparison, double threshold) {
  ReportChart chart;
  chart.title = Title("Times", comparison);
  chart.numbers.title = chart.title;
  chart.numbers.columns = {{"run", "", ""}, {"verdict", "", ""}};
  const std::string keys = std::string(kKeys) + "timings[].";
  chart.numbers.columns.insert(chart.numbers.columns.end(),
                               {{"time", "new / base", keys + "slowdown"},
                                {"at least", "95 %", keys + "interval_low"},
                                {"at most", "95 %", keys + "interval_high"}});
  ChartPanel& panel = chart.panels.emplace_back();
  panel.kind = ChartPanel::Kind::kIntervals;
  panel.x = "time, new / base";
  panel.guides = {1 / (1 + threshold), 1, 1 + threshold};
  bool intervals = false;
  size_t left_out = 0;
  for (const RunComparison* run : Ordered(comparison)) {
    for (const TimingComparison& timing : run->timings) {
      if (!timing.slowdown) {
        continue;
      }
      if (panel.categories.size() == kMostIntervals) {
        ++left_out;
        continue;
      }
      const Verdict verdict = RowVerdict(*run, &timing);
      const Interval range = timing.interval.value_or(Interval{*timing.slowdown, *timing.slowdown});
      intervals = intervals || timing.interval;
      const size_t at = panel.categories.size();
      panel.categories.push_back(
          PrintableAscii(run->timings.size() > 1 ? run->name + ", " + timing.metric : run->name));
      ChartSeries& series = SeriesOf(verdict, panel);
      series.values.resize(at + 1);
      series.ranges.resize(at + 1);
      series.values[at] = timing.slowdown;
      series.ranges[at] = {range.low, range.high};
      ReportRow& row = chart.numbers.rows.emplace_back();
      row.label = run->label;
      row.cells = {Text(panel.categories.back()),
                   {std::string(VerdictName(verdict)), std::nullopt, true},
                   Ratio(timing.slowdown),
                   Ratio(timing.interval ? std::optional(range.low) : std::nullopt),
                   Ratio(timing.interval ? std::optional(range.high) : std::nullopt)};
    }
  }
  if (!intervals) {
    return std::nullopt;
  }
  for (ChartSeries& series : panel.series) {
    series.values.resize(panel.categories.size());
    series.ranges.resize(panel.categories.size());
  }
  chart.caption = "Marks: ratios of medians. Bars: their 95 % intervals. Dashed: the threshold.";
  if (left_out > 0) {
    chart.caption += fmt::format(" {} more are left out; --only picks others.",
                                 Thousands(static_cast<int64_t>(left_out)));
  }
  chart.numbers_open = false;
  return chart;
}

}  // namespace

ReportSection VerdictSection(const CompareReport& report) {
  ReportSection section{"verdicts", "Verdicts", ""};
  bool timings = false;
  for (const Comparison& comparison : report.comparisons) {
    section.tables.push_back(VerdictTable(comparison, report.threshold));
    if (ReportTable fields = FieldTable(comparison); !fields.rows.empty()) {
      section.tables.push_back(std::move(fields));
    }
    if (std::optional<ReportChart> chart = RatioChart(comparison, report.threshold)) {
      section.charts.push_back(std::move(*chart));
    }
    timings = timings || HasTimings(comparison);
  }
  section.text = "changed: a value that has to be equal is not.";
  if (timings) {
    section.text +=
        " time: how many times as long the new one takes, whatever the metric counts. slower and "
        "faster: that is beyond the threshold, and so is all of its interval. same: the interval "
        "lies within the threshold. undecided: the timings do not tell.";
  }
  section.text += " Keys are those of kvbench compare --format json.";
  return section;
}

}  // namespace kvbench
