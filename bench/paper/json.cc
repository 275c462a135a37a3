#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/statistics.h"
#include "bench/machine/environment.h"
#include "bench/paper/output.h"
#include "results/record/label.h"

namespace kvbench {

namespace {

using Json = nlohmann::ordered_json;

Json OrNull(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? Json(*value) : Json();
}

Json RowJson(const PaperRow& row) {
  Json json;
  json["name"] = row.name;
  json["unit"] = row.unit;
  json["ours"] = OrNull(row.ours);
  json["spread"] = row.spread;
  json["seeds"] = row.seeds;
  json["published_low"] = OrNull(row.published_low);
  json["published_high"] = OrNull(row.published_high);
  json["deviation"] = OrNull(row.deviation);
  json["tolerance"] = OrNull(row.tolerance);
  json["tolerance_in"] = row.tolerance ? Json(ClosenessName(row.closeness)) : Json();
  json["holds"] = row.holds ? Json(*row.holds) : Json();
  json["note"] = row.note.empty() ? Json() : Json(row.note);
  return json;
}

Json SectionJson(const PaperSection& section) {
  Json json;
  json["key"] = section.key;
  json["title"] = section.title;
  json["reference"] = section.reference;
  json["source"] = section.source;
  json["notes"] = section.notes;
  json["rows"] = Json::array();
  for (const PaperRow& row : section.rows) {
    json["rows"].push_back(RowJson(row));
  }
  return json;
}

/// What is averaged over seeds. Latencies and completions are those of a rate search alone: the
/// other runs end with their window, and so without their last requests.
std::vector<std::pair<const char*, std::optional<double>>> Figures(const PaperRun& run) {
  const RunRecord& record = run.record;
  const bool to_its_end = run.spec.window.to_ps == MetricsWindow{}.to_ps;
  const UsageShares usage = record.kv.usage_per_step.value_or(UsageShares{});
  std::optional<double> saturated;
  if (record.while_waiting) {
    saturated = record.while_waiting->output_throughput;
  }
  return {{"request_rate", record.trace.request_rate},
          {"requests", static_cast<double>(record.trace.num_requests)},
          {"steps", static_cast<double>(record.steps)},
          {"mean_running_requests", record.mean_running_requests},
          {"preemptions", static_cast<double>(record.preemptions)},
          {"output_throughput", to_its_end ? record.output_throughput : std::nullopt},
          {"output_throughput_while_waiting", saturated},
          {"normalized_latency_mean_s_per_token",
           to_its_end ? record.normalized_latency_mean_s_per_token : std::nullopt},
          {"usage_live", usage.live},
          {"usage_reserved", usage.reserved},
          {"usage_overestimate", usage.overestimate},
          {"usage_rounding", usage.rounding},
          {"usage_free", usage.free},
          {"waste_of_capacity", record.kv.waste_of_capacity},
          {"waste_of_allocated", record.kv.waste_of_allocated}};
}

/// Runs that differ in nothing but their seed.
struct Group {
  Json axes;
  std::vector<const PaperRun*> runs;
};

std::vector<Group> GroupBySeed(const std::vector<PaperRun>& runs) {
  std::vector<Group> groups;
  for (const PaperRun& run : runs) {
    const bool searched = run.spec.find_rate.kind != RateGoal::Kind::kNone;
    Json axes;
    for (const Axis& axis : RunAxes(run.record)) {
      if (axis.name != "seed" && axis.name != "trace" && !(searched && axis.name == "rate")) {
        axes[axis.name] = axis.value;
      }
    }
    axes["lengths"] = run.spec.lengths;
    axes["normalized_latency_goal_s"] = searched ? Json(run.spec.find_rate.s_per_token) : Json();
    const auto known = std::find_if(groups.begin(), groups.end(),
                                    [&](const Group& group) { return group.axes == axes; });
    if (known == groups.end()) {
      groups.push_back({std::move(axes), {&run}});
    } else {
      known->runs.push_back(&run);
    }
  }
  return groups;
}

Json GroupJson(const Group& group) {
  Json json;
  json["axes"] = group.axes;
  json["seeds"] = group.runs.size();
  const auto names = Figures(*group.runs.front());
  for (size_t i = 0; i < names.size(); ++i) {
    std::vector<double> values;
    for (const PaperRun* run : group.runs) {
      const std::optional<double> value = Figures(*run)[i].second;
      if (value && std::isfinite(*value)) {
        values.push_back(*value);
      }
    }
    json["mean"][names[i].first] = OrNull(Mean(values));
    json["std"][names[i].first] = OrNull(PopulationStd(values));
  }
  return json;
}

}  // namespace

Json PaperJson(const std::vector<PaperSection>& sections, const PaperRunner& runner,
               const std::string& command_line) {
  Json json;
  json["format"] = "kvbench paper 1";
  json["version"] = DescribeProgram().version;
  json["command"] = command_line;
  json["sections"] = Json::array();
  for (const PaperSection& section : sections) {
    json["sections"].push_back(SectionJson(section));
  }
  json["suites"] = Json::object();
  for (const auto& [name, runs] : runner.suites()) {
    for (const Group& group : GroupBySeed(runs)) {
      json["suites"][name].push_back(GroupJson(group));
    }
  }
  return json;
}

}  // namespace kvbench
