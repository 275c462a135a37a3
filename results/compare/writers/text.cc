#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>

#include "results/compare/writers/compare_writers.h"

namespace kvbench {
namespace {

constexpr size_t kFewRuns = 40;  ///< with more, those that are the same are counted alone
constexpr size_t kColumns = 100;

void AddComparison(const Comparison& comparison, double threshold, std::string& text) {
  text += fmt::format("== {} against {}, threshold {:.3g} % ==\n", PrintableAscii(comparison.next),
                      PrintableAscii(comparison.base), 100 * threshold);
  for (const std::string& note : comparison.notes) {
    text += Wrap("* " + PrintableAscii(note), kColumns, 2) + "\n";
  }
  text += "\n";
  const bool all = comparison.runs.size() <= kFewRuns;
  for (const RunComparison& run : comparison.runs) {
    if (!all && !NeedsLooking(run.verdict)) {
      continue;
    }
    text += fmt::format("  {:<12}  {}\n", VerdictName(run.verdict), PrintableAscii(run.name));
    for (const FieldChange& change : run.changes) {
      text += fmt::format(
          "                {}{}: {} -> {}\n", PrintableAscii(change.name),
          change.repetition > 0 ? fmt::format(" (repetition {})", change.repetition) : "",
          PrintableAscii(change.base), PrintableAscii(change.next));
    }
    const auto listed = static_cast<int64_t>(run.changes.size());
    if (run.changes_in_all > listed) {
      text += fmt::format("                and {} more fields\n",
                          Thousands(run.changes_in_all - listed));
    }
    const auto add = [&](const std::string& line) {
      const std::string wrapped = Wrap(PrintableAscii(line), kColumns - 16, 2);
      std::string indented = "                ";
      for (const char c : wrapped) {
        indented += c == '\n' ? std::string("\n                ") : std::string(1, c);
      }
      text += indented + "\n";
    };
    for (const TimingComparison& timing : run.timings) {
      add(TimingText(timing));
    }
    for (const std::string& note : run.notes) {
      add(note);
    }
  }
  text += fmt::format("{}{}\n", comparison.runs.empty() ? "" : "\n", SummaryText(comparison));
}

}  // namespace

std::string CompareText(const CompareReport& report) {
  std::string text;
  for (const Comparison& comparison : report.comparisons) {
    text += text.empty() ? "" : "\n";
    AddComparison(comparison, report.threshold, text);
  }
  return text;
}

}  // namespace kvbench
