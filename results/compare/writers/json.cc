#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "results/compare/writers/compare_writers.h"
#include "results/json/json_layout.h"

namespace kvbench {
namespace {

using Json = nlohmann::ordered_json;

Json Number(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? Json(*value) : Json(nullptr);
}

/// "-" stands for a field that is not there, which JSON text never is.
Json Value(const std::string& text) {
  return text == "-" ? Json(nullptr) : Json::parse(text, nullptr, false);
}

Json ToJson(const TimingComparison& timing) {
  return {{"metric", timing.metric},
          {"verdict", VerdictName(timing.verdict)},
          {"base_count", timing.base_count},
          {"new_count", timing.next_count},
          {"base_median", Number(timing.base_median)},
          {"new_median", Number(timing.next_median)},
          {"slowdown", Number(timing.slowdown)},
          {"interval_low", timing.interval ? Number(timing.interval->low) : Json(nullptr)},
          {"interval_high", timing.interval ? Number(timing.interval->high) : Json(nullptr)},
          {"mann_whitney_p", Number(timing.p_value)},
          {"shares_of_roof", timing.shares},
          {"why", timing.why}};
}

Json ToJson(const RunComparison& run) {
  Json changes = Json::array();
  for (const FieldChange& change : run.changes) {
    changes.push_back({{"field", change.name},
                       {"repetition", change.repetition},
                       {"base", Value(change.base)},
                       {"new", Value(change.next)}});
  }
  Json timings = Json::array();
  for (const TimingComparison& timing : run.timings) {
    timings.push_back(ToJson(timing));
  }
  return {{"label", run.label},
          {"verdict", VerdictName(run.verdict)},
          {"changed_fields", run.changes_in_all},
          {"changes", std::move(changes)},
          {"timings", std::move(timings)},
          {"notes", run.notes}};
}

Json ToJson(const Comparison& comparison) {
  Json summary = Json::object();
  for (size_t i = 0; i < kVerdicts; ++i) {
    const auto verdict = static_cast<Verdict>(i);
    std::string key(VerdictName(verdict));
    for (char& c : key) {
      c = c == ' ' ? '_' : c;
    }
    summary[key] = comparison.Count(verdict);
  }
  Json runs = Json::array();
  for (const RunComparison& run : comparison.runs) {
    runs.push_back(ToJson(run));
  }
  return {{"base", comparison.base},       {"new", comparison.next},
          {"failed", comparison.failed()}, {"summary", std::move(summary)},
          {"notes", comparison.notes},     {"runs", std::move(runs)}};
}

}  // namespace

std::string CompareJson(const CompareReport& report) {
  Json comparisons = Json::array();
  for (const Comparison& comparison : report.comparisons) {
    comparisons.push_back(ToJson(comparison));
  }
  const Json json = {{"compare_version", "1.0"},
                     {"threshold", report.threshold},
                     {"failed", report.failed()},
                     {"comparisons", std::move(comparisons)}};
  std::ostringstream out;
  WriteJson(json, 0, out);
  out << "\n";
  return std::move(out).str();
}

}  // namespace kvbench
