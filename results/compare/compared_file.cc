#include "results/compare/compared_file.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json.h"
#include "results/compare/benchmark_reader.h"
#include "results/compare/exact_fields.h"
#include "results/json/json_parts.h"
#include "results/json/json_value.h"
#include "results/record/field.h"
#include "results/record/json_reader.h"
#include "results/record/timeline_reader.h"

namespace kvbench {
namespace {

using Json = nlohmann::json;

/// Calls `add` for every field below a value with its place, "a.b.0.c".
template <typename Add>
void Flatten(const Json& value, std::string& path, const Add& add) {
  const auto below = [&](std::string_view key, const Json& part) {
    const size_t size = path.size();
    path.append(path.empty() ? "" : ".").append(key);
    Flatten(part, path, add);
    path.resize(size);
  };
  if (value.is_object() && !value.empty()) {
    for (const auto& [key, part] : value.items()) {
      below(key, part);
    }
  } else if (value.is_array() && !value.empty()) {
    for (size_t i = 0; i < value.size(); ++i) {
      below(std::to_string(i), value[i]);
    }
  } else {
    add(path, value);
  }
}

/// Looks whether all that a run cannot do without is there, and takes label and repetition.
void ReadNeeded(const JsonValue& run, ComparedRun& compared) {
  const auto count = [&](std::string_view key) {
    const JsonValue value = run.At(key);
    const int64_t number = value.Integer();
    if (number < 0) {
      value.Fail("a number from 0 on");
    }
    return number;
  };
  compared.label = run.At("label").String();
  compared.repetition = count("repetition");
  for (const char* key : {"executor", "trace", "window", "design", "kv"}) {
    run.At(key).ExpectObject();
  }
  // A value points to the object that it is a member of.
  const JsonValue executor = run.At("executor");
  executor.At("kind").String();
  const JsonValue trace = run.At("trace");
  trace.At("sha256").String();
  for (const char* key : {"completed", "rejected", "steps", "preemptions", "recomputed_tokens"}) {
    count(key);
  }
}

/// Keeps what a comparison looks at.
ComparedRun Compress(ComparedFile& file, const Json& run, const std::string& name) {
  ComparedRun compared;
  const JsonValue value(run, name);
  ReadNeeded(value, compared);
  compared.kind = KindOf(run);
  std::string path;
  Flatten(run, path, [&](const std::string& field, const Json& content) {
    if (MustBeEqual(compared.kind, field)) {
      compared.exact.push_back({file.Name(field), DumpJson(content)});
    }
  });
  if (compared.kind == RunKind::kAllAtOnce || compared.kind == RunKind::kTimed) {
    for (const auto& [key, content] : run.items()) {
      if (content.is_number() && IsTiming(key)) {
        compared.metrics.push_back({file.Name(key), content.get<double>()});
      }
    }
  }
  const auto verification = run.find("verification");
  compared.verification_failed = verification != run.end() && verification->is_object() &&
                                 verification->value("passed", Json()) == false;
  if (const JsonValue from = value.At("origin"); !from.is_null()) {
    RunOrigin origin;
    RunOrigin::Describe().Read(from, &origin);
    const MadeOn made_on = MadeOnOf(origin);
    compared.made_on = made_on.name;
    compared.roof = made_on.roof;
  }
  return compared;
}

void ReadRuns(std::string_view text, const ComparedReadOptions& options, ComparedFile& file) {
  const auto on_run = [&](const std::string& name, JsonScanner& scanner) {
    // Most of a run, and nothing that a comparison looks at.
    const CutObject object = CutMembers(scanner, name, {"timeline", "samples", "notes"});
    ComparedRun& run = file.runs.emplace_back(Compress(file, ParsePart(object.rest), name));
    const std::string_view timeline = object.values.front();
    if (options.timeline && timeline != "null") {
      for (const TimelinePoint& point : ParseTimeline(timeline, name + ".timeline")) {
        run.step_ends_s.push_back(point.time_s);
      }
    }
  };
  ResultsFile head;
  file.minor_version = WalkResults(text, on_run, head, options.on_progress);
  file.suite = head.run_info.suite;
  file.complete = head.run_info.complete;
  const MadeOn made_on = MadeOnOf(head.environment, head.run_info);
  for (ComparedRun& run : file.runs) {
    if (run.made_on.empty()) {
      run.made_on = made_on.name;
      run.roof = made_on.roof;
    }
  }
}

void ReadBenchmarks(std::string_view text, const ComparedReadOptions& options, ComparedFile& file) {
  BenchmarkReader benchmarks(file);
  Json head = Json::object();
  JsonWalk walk;
  walk.lists = {"benchmarks"};
  walk.on_member = [&](std::string_view key, std::string_view value) {
    head[std::string(key)] = ParsePart(value);
  };
  walk.on_element = [&](std::string_view list, size_t index, JsonScanner& scanner) {
    benchmarks.Add(ParsePart(scanner.Value()), fmt::format("{}[{}]", list, index));
  };
  walk.on_progress = options.on_progress;
  WalkJson(text, walk);
  benchmarks.Finish(head);
}

void CheckRuns(const ComparedFile& file) {
  if (file.runs.empty()) {
    throw Error("there are no runs in it: nothing to compare");
  }
  std::set<std::pair<std::string_view, int64_t>> seen;
  for (const ComparedRun& run : file.runs) {
    if (!seen.insert({run.label, run.repetition}).second) {
      throw Error(
          fmt::format("repetition {} of one run is there twice: {}", run.repetition, run.label));
    }
  }
}

}  // namespace

std::optional<double> ComparedRun::Metric(std::string_view name) const {
  for (const RunMetric& metric : metrics) {
    if (*metric.name == name) {
      return metric.value;
    }
  }
  return std::nullopt;
}

const std::string* ComparedFile::Name(std::string_view wanted) {
  const auto found = names.find(wanted);
  return found != names.end() ? &*found : &*names.emplace(wanted).first;
}

bool MoreIsBetter(std::string_view metric) {
  return metric.ends_with("throughput") || metric == "goodput" || metric.ends_with("_per_s") ||
         metric.ends_with("_share");
}

ComparedFile ParseComparedFile(std::string_view text, const std::string& name,
                               const ComparedReadOptions& options) {
  ComparedFile file;
  file.name = name;
  file.benchmarks = KindOfResults(text) == ResultsKind::kBenchmark;
  if (file.benchmarks) {
    ReadBenchmarks(text, options, file);
  } else {
    ReadRuns(text, options, file);
  }
  CheckRuns(file);
  return file;
}

}  // namespace kvbench
