#pragma once

#include <string>

#include "results/compare/writers/compare_writers.h"

namespace kvbench {

/// One run of each verdict, with names that need escaping.
inline CompareReport ExampleComparison() {
  CompareReport report;
  Comparison& comparison = report.comparisons.emplace_back();
  comparison.base = "base <1>.json";
  comparison.next = "new & \"2\".json";
  comparison.notes = {"base <1>.json is marked incomplete: runs are missing"};
  const auto add = [&](const std::string& design, Verdict verdict) -> RunComparison& {
    RunComparison& run = comparison.runs.emplace_back();
    run.label = "model=a|b design=" + design + " block-size=16";
    run.verdict = verdict;
    return run;
  };
  const auto timing = [](double slowdown, double width, Verdict verdict) {
    TimingComparison t;
    t.metric = "output_throughput";
    t.base_count = t.next_count = 9;
    t.base_median = 5'929.4;
    t.next_median = 5'929.4 / slowdown;
    t.slowdown = slowdown;
    t.interval = Interval{slowdown - width, slowdown + width};
    t.p_value = 0.00041;
    t.verdict = verdict;
    return t;
  };
  add("same", Verdict::kSame).timings.push_back(timing(1.002, 0.01, Verdict::kSame));
  add("faster", Verdict::kFaster).timings.push_back(timing(0.9, 0.01, Verdict::kFaster));
  add("slower", Verdict::kSlower).timings.push_back(timing(1.12, 0.02, Verdict::kSlower));
  RunComparison& changed = add("changed", Verdict::kChanged);
  changed.changes = {{"kv.peak_live_slots", 0, "1968", "1970"},
                     {"executor.hardware", 1, "\"<a>\"", "-"},
                     {"goodput", 0, "null", "1.5"},
                     {"steps", 0, "1000", "1001"}};
  changed.changes_in_all = 24;
  changed.timings.push_back(timing(1.3, 0.1, Verdict::kSlower));
  TimingComparison few = timing(1.1, 0, Verdict::kUndecided);
  few.interval.reset();
  few.p_value.reset();
  few.why = "needs 9 repetitions, has 3";
  add("undecided", Verdict::kUndecided).timings.push_back(few);
  add("gone", Verdict::kOnlyInBase);
  add("come", Verdict::kOnlyInNew).notes = {"@somebody `code` *bold*\nnext line"};
  NameRuns(comparison);
  return report;
}

}  // namespace kvbench
