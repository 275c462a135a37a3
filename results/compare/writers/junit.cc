#include <fmt/format.h>

#include "base/markup.h"
#include "results/compare/writers/compare_writers.h"

namespace kvbench {
namespace {

bool Fails(Verdict verdict) { return verdict == Verdict::kSlower || verdict == Verdict::kChanged; }

bool Skips(Verdict verdict) {
  return verdict == Verdict::kUndecided || verdict == Verdict::kOnlyInBase ||
         verdict == Verdict::kOnlyInNew;
}

std::string Details(const RunComparison& run) {
  std::string text;
  for (const FieldChange& change : run.changes) {
    text += fmt::format("{}, repetition {}: {} -> {}\n", change.name, change.repetition,
                        change.base, change.next);
  }
  for (const TimingComparison& timing : run.timings) {
    text += TimingText(timing) + "\n";
  }
  return text;
}

void AddCase(const RunComparison& run, std::string& xml) {
  xml += fmt::format("    <testcase classname=\"kvbench.compare\" name=\"{}\" time=\"0\"",
                     EscapeMarkup(run.label));
  const std::string verdict(VerdictName(run.verdict));
  const std::string reason = ReasonText(run);
  const std::string message = EscapeMarkup(reason.empty() ? verdict : verdict + ": " + reason);
  if (Fails(run.verdict)) {
    xml +=
        fmt::format(">\n      <failure message=\"{}\" type=\"{}\">{}</failure>\n    </testcase>\n",
                    message, verdict, EscapeMarkup(Details(run)));
  } else if (Skips(run.verdict)) {
    xml += fmt::format(">\n      <skipped message=\"{}\"/>\n    </testcase>\n", message);
  } else if (!reason.empty()) {
    xml += fmt::format(">\n      <system-out>{}</system-out>\n    </testcase>\n", message);
  } else {
    xml += "/>\n";
  }
}

struct Totals {
  int64_t tests = 0;
  int64_t failures = 0;
  int64_t skipped = 0;
};

Totals Count(const Comparison& comparison) {
  Totals totals;
  for (const RunComparison& run : comparison.runs) {
    ++totals.tests;
    totals.failures += Fails(run.verdict) ? 1 : 0;
    totals.skipped += Skips(run.verdict) ? 1 : 0;
  }
  return totals;
}

}  // namespace

std::string CompareJunit(const CompareReport& report) {
  Totals all;
  std::string suites;
  for (const Comparison& comparison : report.comparisons) {
    const Totals totals = Count(comparison);
    all.tests += totals.tests;
    all.failures += totals.failures;
    all.skipped += totals.skipped;
    suites += fmt::format(
        "  <testsuite name=\"{} against {}\" tests=\"{}\" failures=\"{}\" errors=\"0\" "
        "skipped=\"{}\" time=\"0\">\n",
        EscapeMarkup(comparison.next), EscapeMarkup(comparison.base), totals.tests, totals.failures,
        totals.skipped);
    for (const RunComparison& run : comparison.runs) {
      AddCase(run, suites);
    }
    suites += "  </testsuite>\n";
  }
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"kvbench compare\" "
      "tests=\"{}\" failures=\"{}\" errors=\"0\" time=\"0\">\n{}</testsuites>\n",
      all.tests, all.failures, suites);
}

}  // namespace kvbench
