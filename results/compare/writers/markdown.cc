#include <fmt/format.h>

#include "base/text.h"
#include "results/compare/writers/compare_writers.h"

namespace kvbench {
namespace {

constexpr size_t kMostRows = 200;  ///< of a table: a comment on GitHub holds 65,536 characters

/// Text for a cell: nothing that ends the cell or begins markup.
std::string Cell(std::string_view text) {
  std::string cell;
  for (const char c : text) {
    switch (c) {
      case '|':
      case '*':
      case '_':
      case '`':
      case '\\':
      case '[':
      case ']':
        cell += '\\';
        cell += c;
        break;
      case '<':
        cell += "&lt;";
        break;
      case '>':
        cell += "&gt;";
        break;
      case '&':
        cell += "&amp;";
        break;
      case '@':
        cell += "&#64;";  // nobody is notified
        break;
      default:
        cell += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
    }
  }
  return cell;
}

std::string Shown(Verdict verdict) {
  const std::string name(VerdictName(verdict));
  const bool fails = verdict == Verdict::kSlower || verdict == Verdict::kChanged;
  return fails ? "**" + name + "**" : name;
}

void AddTable(const Comparison& comparison, bool looking, std::string& text) {
  text += "| run | verdict | time | 95 % interval | why |\n|---|---|--:|:-:|---|\n";
  size_t rows = 0;
  size_t left_out = 0;
  for (const RunComparison& run : comparison.runs) {
    if (NeedsLooking(run.verdict) != looking) {
      continue;
    }
    if (++rows > kMostRows) {
      ++left_out;
      continue;
    }
    const TimingComparison* timing = run.timings.empty() ? nullptr : &run.timings.front();
    text += fmt::format("| {} | {} | {} | {} | {} |\n", Cell(run.name), Shown(run.verdict),
                        timing != nullptr && timing->slowdown ? PercentText(*timing->slowdown) : "",
                        timing != nullptr && timing->interval
                            ? fmt::format("{} to {}", PercentText(timing->interval->low),
                                          PercentText(timing->interval->high))
                            : "",
                        Cell(ReasonText(run, false)));
  }
  if (left_out > 0) {
    text +=
        fmt::format("\n{} more runs are not listed.\n", Thousands(static_cast<int64_t>(left_out)));
  }
}

}  // namespace

std::string CompareMarkdown(const CompareReport& report) {
  std::string text;
  for (const Comparison& comparison : report.comparisons) {
    text += fmt::format("{}### kvbench: {} against {}\n\n{}, threshold {:.3g} %\n",
                        text.empty() ? "" : "\n", Cell(comparison.next), Cell(comparison.base),
                        SummaryText(comparison), 100 * report.threshold);
    for (const std::string& note : comparison.notes) {
      text += fmt::format("\n{}\n", Cell(note));
    }
    const auto runs = static_cast<int64_t>(comparison.runs.size());
    const int64_t same = comparison.Count(Verdict::kSame);
    if (same < runs) {
      text += "\n";
      AddTable(comparison, true, text);
    }
    if (same > 0) {
      text += fmt::format("\n<details><summary>{} same</summary>\n\n", Thousands(same));
      AddTable(comparison, false, text);
      text += "\n</details>\n";
    }
  }
  return text;
}

}  // namespace kvbench
