#include "results/compare/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <unordered_map>

#include "base/error.h"
#include "results/compare/compare.h"

namespace kvbench {
namespace {

using Runs = std::vector<const ComparedRun*>;

/// The repetitions of each label, in the order of the file.
struct ByLabel {
  std::vector<Runs> groups;
  std::unordered_map<std::string_view, size_t> index;

  explicit ByLabel(const ComparedFile& file) {
    for (const ComparedRun& run : file.runs) {
      const auto [found, added] = index.emplace(run.label, groups.size());
      if (added) {
        groups.emplace_back();
      }
      groups[found->second].push_back(&run);
    }
  }
  const Runs* Find(std::string_view label) const {
    const auto found = index.find(label);
    return found == index.end() ? nullptr : &groups[found->second];
  }
};

/// 1 and 1.0 are the same number.
bool SameValue(const std::string& a, const std::string& b) {
  if (a == b) {
    return true;
  }
  const auto number = [](const std::string& text, double& value) {
    const char* end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, value);
    return read.ec == std::errc() && read.ptr == end;
  };
  double first = 0;
  double second = 0;
  return number(a, first) && number(b, second) && first == second;
}

void AddChange(const std::string& name, int64_t repetition, std::string base, std::string next,
               RunComparison& result) {
  ++result.changes_in_all;
  if (result.changes.size() < RunComparison::kMostChanges) {
    result.changes.push_back({name, repetition, std::move(base), std::move(next)});
  }
}

RunComparison CompareLabel(const Runs& base, const Runs& next, bool same_version,
                           const CompareOptions& options) {
  RunComparison result;
  result.label = base.front()->label;
  for (const ComparedRun* run : next) {
    const auto twin = std::find_if(base.begin(), base.end(), [&](const ComparedRun* other) {
      return other->repetition == run->repetition;
    });
    CompareExact(twin == base.end() ? *base.front() : **twin, *run, same_version, result);
    if (run->verification_failed && result.notes.empty()) {
      result.notes.push_back("the new run's attention outputs failed their verification");
    }
  }
  const RunKind kind = base.front()->kind;
  if (kind == RunKind::kModelled || kind == RunKind::kPredicted) {
    if (kind == RunKind::kPredicted) {
      result.notes.push_back("its times are predicted from roofs and not compared");
    }
  } else if (options.metrics.empty()) {
    result.timings.push_back(CompareTimings(base, next, std::string(DefaultMetric(kind)), options));
  } else {
    for (const std::string& metric : options.metrics) {
      result.timings.push_back(CompareTimings(base, next, metric, options));
    }
  }
  result.verdict = JudgeRun(result);
  return result;
}

void CheckJoinable(const ComparedFile& base, const ComparedFile& next) {
  if (base.benchmarks != next.benchmarks) {
    throw Error(fmt::format("{} holds runs and {} benchmarks: they cannot be compared",
                            base.benchmarks ? next.name : base.name,
                            base.benchmarks ? base.name : next.name));
  }
  if (base.suite != next.suite) {
    const auto name = [](const std::optional<std::string>& suite) {
      return suite ? "suite " + *suite : std::string("no suite");
    };
    throw Error(fmt::format("{} is of {} and {} of {}: only files of one suite are compared",
                            base.name, name(base.suite), next.name, name(next.suite)));
  }
}

void CheckMetrics(const ComparedFile& base, const ComparedFile& next,
                  const CompareOptions& options) {
  std::set<std::string_view> known;
  bool timings = false;
  for (const ComparedFile* file : {&base, &next}) {
    for (const ComparedRun& run : file->runs) {
      timings = timings || run.kind == RunKind::kAllAtOnce || run.kind == RunKind::kTimed ||
                run.kind == RunKind::kBenchmark;
      for (const RunMetric& metric : run.metrics) {
        known.insert(*metric.name);
      }
    }
  }
  for (const std::string& metric : options.metrics) {
    if (timings && !known.contains(metric)) {
      std::string names;
      for (const std::string_view name : known) {
        names += (names.empty() ? "" : ", ") + std::string(name);
      }
      throw Error(fmt::format("no run has a timing '{}': there are {}", metric, names));
    }
  }
}

using Words = std::vector<std::pair<std::string_view, std::string_view>>;

/// The axes of a label; nothing where it is no label of ours.
Words LabelWords(std::string_view label) {
  Words words;
  while (!label.empty()) {
    const std::string_view word = label.substr(0, label.find(' '));
    label.remove_prefix(std::min(label.size(), word.size() + 1));
    const size_t equals = word.find('=');
    if (equals == std::string_view::npos) {
      return {};
    }
    words.emplace_back(word.substr(0, equals), word.substr(equals + 1));
  }
  return words;
}

using Axes = std::set<std::string_view>;

/// Labels with those axes alone.
std::vector<std::string> NamesOf(const std::vector<std::string>& labels, const Axes& axes) {
  const Axes bare = {"model", "design", "executor"};
  std::vector<std::string> names;
  for (const std::string& label : labels) {
    std::string short_name;
    for (const auto& [name, value] : LabelWords(label)) {
      if (axes.contains(name) && value != "none") {
        short_name += short_name.empty() ? "" : " ";
        short_name += bare.contains(name) ? std::string(value) : fmt::format("{}={}", name, value);
      }
    }
    names.push_back(short_name.empty() ? label : short_name);
  }
  return names;
}

size_t Different(const std::vector<std::string>& names) {
  return Axes(names.begin(), names.end()).size();
}

}  // namespace

std::string_view VerdictName(Verdict verdict) {
  constexpr std::array<std::string_view, kVerdicts> kNames = {
      "same", "faster", "slower", "changed", "undecided", "only in base", "only in new"};
  return kNames[static_cast<size_t>(verdict)];
}

int64_t Comparison::Count(Verdict verdict) const {
  return std::count_if(runs.begin(), runs.end(),
                       [&](const RunComparison& run) { return run.verdict == verdict; });
}

std::string_view DefaultMetric(RunKind kind) {
  return kind == RunKind::kBenchmark ? "real_time_ns"
         : kind == RunKind::kTimed   ? "normalized_latency_mean_s_per_token"
                                     : "output_throughput";
}

void CompareExact(const ComparedRun& base, const ComparedRun& next, bool same_version,
                  RunComparison& result) {
  // Both files have their fields in the same order but for what another version added: look for
  // a field where the one before was found.
  size_t from = 0;
  size_t found = 0;
  for (const ExactField& field : next.exact) {
    size_t at = from;
    size_t steps = 0;
    while (steps < base.exact.size() && *base.exact[at].name != *field.name) {
      at = (at + 1) % base.exact.size();
      ++steps;
    }
    if (steps == base.exact.size()) {
      if (same_version) {
        AddChange(*field.name, next.repetition, "-", field.value, result);
      }
      continue;
    }
    ++found;
    from = (at + 1) % base.exact.size();
    if (!SameValue(base.exact[at].value, field.value)) {
      AddChange(*field.name, next.repetition, base.exact[at].value, field.value, result);
    }
  }
  if (found == base.exact.size() || !same_version) {
    return;
  }
  for (const ExactField& field : base.exact) {
    if (std::none_of(next.exact.begin(), next.exact.end(),
                     [&](const ExactField& other) { return *other.name == *field.name; })) {
      AddChange(*field.name, next.repetition, field.value, "-", result);
    }
  }
}

Verdict JudgeRun(const RunComparison& run) {
  if (run.changes_in_all > 0) {
    return Verdict::kChanged;
  }
  for (const Verdict verdict : {Verdict::kSlower, Verdict::kUndecided, Verdict::kFaster}) {
    if (std::any_of(run.timings.begin(), run.timings.end(),
                    [&](const TimingComparison& timing) { return timing.verdict == verdict; })) {
      return verdict;
    }
  }
  return Verdict::kSame;
}

Comparison CompareFiles(const ComparedFile& base, const ComparedFile& next,
                        const CompareOptions& options) {
  CheckJoinable(base, next);
  CheckMetrics(base, next, options);
  Comparison comparison;
  comparison.base = base.name;
  comparison.next = next.name;
  for (const ComparedFile* file : {&base, &next}) {
    if (!file->complete) {
      comparison.notes.push_back(file->name + " is marked incomplete: runs are missing");
    }
  }
  const ByLabel before(base);
  const ByLabel after(next);
  bool joined = false;
  for (const Runs& runs : before.groups) {
    if (const Runs* twins = after.Find(runs.front()->label)) {
      comparison.runs.push_back(
          CompareLabel(runs, *twins, base.minor_version == next.minor_version, options));
      joined = true;
    } else {
      RunComparison& only = comparison.runs.emplace_back();
      only.label = runs.front()->label;
      only.verdict = Verdict::kOnlyInBase;
    }
  }
  for (const Runs& runs : after.groups) {
    if (before.Find(runs.front()->label) == nullptr) {
      RunComparison& only = comparison.runs.emplace_back();
      only.label = runs.front()->label;
      only.verdict = Verdict::kOnlyInNew;
    }
  }
  if (!joined) {
    throw Error(fmt::format("{} and {} have no run in common", base.name, next.name));
  }
  NameRuns(comparison);
  return comparison;
}

std::vector<std::string> ShortNames(const std::vector<std::string>& labels) {
  Axes axes = {"model", "design"};
  std::vector<std::string> names = NamesOf(labels, axes);
  std::vector<std::string_view> others = {"block-size", "executor", "rate", "seed", "trace"};
  for (const std::string& label : labels) {
    for (const auto& [name, value] : LabelWords(label)) {
      others.push_back(name);
    }
    break;  // all labels have the same axes
  }
  // Axes join until they tell the runs apart, those that say nothing new do not.
  for (const std::string_view axis : others) {
    if (Different(names) == labels.size()) {
      break;
    }
    if (!axes.insert(axis).second) {
      continue;
    }
    std::vector<std::string> longer = NamesOf(labels, axes);
    if (Different(longer) > Different(names)) {
      names = std::move(longer);
    } else {
      axes.erase(axis);
    }
  }
  return names;
}

void NameRuns(Comparison& comparison) {
  std::vector<std::string> labels;
  for (const RunComparison& run : comparison.runs) {
    labels.push_back(run.label);
  }
  std::vector<std::string> names = ShortNames(labels);
  for (size_t i = 0; i < names.size(); ++i) {
    comparison.runs[i].name = std::move(names[i]);
  }
}

}  // namespace kvbench
