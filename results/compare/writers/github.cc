#include <fmt/format.h>

#include "results/compare/writers/compare_writers.h"

namespace kvbench {
namespace {

/// A workflow command ends at the line, and its property at a colon or comma.
std::string Escape(std::string_view text, bool property) {
  std::string escaped;
  for (const char c : text) {
    if (c == '%' || c == '\r' || c == '\n' || (property && (c == ':' || c == ','))) {
      escaped += fmt::format("%{:02X}", static_cast<unsigned>(static_cast<unsigned char>(c)));
    } else {
      escaped += c;
    }
  }
  return escaped;
}

void AddCommand(const char* kind, const std::string& title, const std::string& message,
                std::string& text) {
  text += fmt::format("::{} title={}::{}\n", kind, Escape(title, true), Escape(message, false));
}

}  // namespace

std::string CompareGithub(const CompareReport& report) {
  std::string text;
  for (const Comparison& comparison : report.comparisons) {
    for (const RunComparison& run : comparison.runs) {
      if (run.verdict == Verdict::kSame || run.verdict == Verdict::kFaster) {
        continue;
      }
      const bool fails = run.verdict == Verdict::kSlower || run.verdict == Verdict::kChanged;
      const std::string reason = ReasonText(run);
      AddCommand(fails ? "error" : "warning", fmt::format("kvbench: {}", VerdictName(run.verdict)),
                 reason.empty() ? run.name : run.name + ": " + reason, text);
    }
    for (const std::string& note : comparison.notes) {
      AddCommand("warning", "kvbench", note, text);
    }
    AddCommand(
        "notice", "kvbench",
        fmt::format("{} against {}: {}", comparison.next, comparison.base, SummaryText(comparison)),
        text);
  }
  return text;
}

}  // namespace kvbench
