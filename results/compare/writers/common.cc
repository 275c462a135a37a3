#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/text.h"
#include "results/compare/writers/compare_writers.h"

namespace kvbench {
namespace {

constexpr std::pair<std::string_view, CompareWriter> kWriters[] = {
    {"text", &CompareText},   {"markdown", &CompareMarkdown}, {"json", &CompareJson},
    {"junit", &CompareJunit}, {"github", &CompareGithub},
};

}  // namespace

bool CompareReport::failed() const {
  return std::any_of(comparisons.begin(), comparisons.end(),
                     [](const Comparison& comparison) { return comparison.failed(); });
}

CompareWriter FindCompareWriter(std::string_view name) {
  for (const auto& [known, writer] : kWriters) {
    if (known == name) {
      return writer;
    }
  }
  return nullptr;
}

std::string CompareFormats() {
  std::vector<std::string> names;
  for (const auto& [name, writer] : kWriters) {
    names.emplace_back(name);
  }
  return JoinWords(names);
}

std::string SummaryText(const Comparison& comparison) {
  std::string text;
  for (size_t i = 0; i < kVerdicts; ++i) {
    const auto verdict = static_cast<Verdict>(i);
    if (const int64_t count = comparison.Count(verdict); count > 0) {
      text +=
          fmt::format("{}{} {}", text.empty() ? "" : ", ", Thousands(count), VerdictName(verdict));
    }
  }
  const auto runs = static_cast<int64_t>(comparison.runs.size());
  return fmt::format("{} (of {} run{})", text, Thousands(runs), runs == 1 ? "" : "s");
}

std::string PercentText(double slowdown) { return fmt::format("{:+.1f} %", 100 * (slowdown - 1)); }

std::string QuantityText(double value) {
  const double size = std::abs(value);
  if (size >= 1000 && size < 1e15) {
    return Thousands(std::llround(value));
  }
  return fmt::format("{:.4g}", value);
}

std::string TimingText(const TimingComparison& timing, bool figures) {
  std::string text = timing.metric;
  if (timing.base_median && timing.next_median) {
    text += fmt::format(" {} -> {}", QuantityText(*timing.base_median),
                        QuantityText(*timing.next_median));
  }
  if (timing.slowdown && figures) {
    text += fmt::format(": {} time", PercentText(*timing.slowdown));
  }
  if (timing.interval && figures) {
    text += fmt::format(" [{}, {}]", PercentText(timing.interval->low),
                        PercentText(timing.interval->high));
  }
  if (timing.p_value) {
    text += fmt::format(", p {:.2g}", *timing.p_value);
  }
  if (!timing.why.empty()) {
    text += fmt::format(" ({})", timing.why);
  }
  return text;
}

std::string ReasonText(const RunComparison& run, bool figures) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : "; ") + part; };
  constexpr size_t kShown = 3;
  for (size_t i = 0; i < std::min(kShown, run.changes.size()); ++i) {
    const FieldChange& change = run.changes[i];
    add(fmt::format("{}: {} -> {}", change.name, change.base, change.next));
  }
  if (run.changes_in_all > static_cast<int64_t>(kShown)) {
    add(fmt::format("and {} more fields", Thousands(run.changes_in_all - kShown)));
  }
  for (const TimingComparison& timing : run.timings) {
    if (run.verdict != Verdict::kChanged || timing.verdict == Verdict::kSlower) {
      add(TimingText(timing, figures || run.timings.size() > 1));
    }
  }
  for (const std::string& note : run.notes) {
    add(note);
  }
  return text;
}

bool NeedsLooking(Verdict verdict) { return verdict != Verdict::kSame; }

}  // namespace kvbench
