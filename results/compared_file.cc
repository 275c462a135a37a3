#include "results/compared_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "results/bad_results.h"
#include "results/benchmark_reader.h"
#include "results/exact_fields.h"
#include "results/json_splitter.h"
#include "results/results_head.h"

namespace kvbench {
namespace {

using Json = nlohmann::json;

constexpr int64_t kMajorVersion = 1;

/// "1.2" as its minor version. Throws BadResults for another major one.
int64_t ReadVersion(const std::string& path, const Json& value) {
  int64_t major = -1;
  int64_t minor = -1;
  if (value.is_string()) {
    const std::string& text = value.get_ref<const std::string&>();
    const char* end = text.data() + text.size();
    const auto first = std::from_chars(text.data(), end, major);
    if (first.ec == std::errc() && first.ptr != end && *first.ptr == '.') {
      const auto second = std::from_chars(first.ptr + 1, end, minor);
      minor = second.ptr == end ? minor : -1;
    }
  }
  if (major != kMajorVersion || minor < 0) {
    throw BadResults(fmt::format("{} has schema version {}: this kvbench reads {}.x", path,
                                 value.is_string() ? value.get<std::string>() : value.dump(),
                                 kMajorVersion));
  }
  return minor;
}

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

/// What a run cannot do without.
class Needed {
 public:
  Needed(const std::string& path, size_t index, const Json& run)
      : where_(fmt::format("{}: runs[{}]", path, index)), run_(run) {}

  const Json& Find(const char* object, const char* key) const {
    const Json* at = &run_;
    std::string place;
    for (const char* step : {object, key}) {
      if (step == nullptr) {
        continue;
      }
      place += std::string(".") + step;
      const auto found = at->is_object() ? at->find(step) : at->end();
      if (!at->is_object() || found == at->end()) {
        throw BadResults(where_ + place + " is missing");
      }
      at = &*found;
    }
    if (at->is_null()) {
      throw BadResults(where_ + place + " is null, and a comparison needs it");
    }
    return *at;
  }
  std::string Text(const char* object, const char* key) const {
    const Json& value = Find(object, key);
    if (!value.is_string()) {
      Refuse(object, key, "no text");
    }
    return value.get<std::string>();
  }
  int64_t Count(const char* key) const {
    const Json& value = Find(nullptr, key);
    if (!value.is_number_integer() || value.get<int64_t>() < 0) {
      Refuse(nullptr, key, "no count");
    }
    return value.get<int64_t>();
  }
  void Object(const char* key) const {
    if (!Find(nullptr, key).is_object()) {
      Refuse(nullptr, key, "no object");
    }
  }

 private:
  [[noreturn]] void Refuse(const char* object, const char* key, const char* what) const {
    throw BadResults(fmt::format("{}.{}{}{} is {}", where_, object == nullptr ? "" : object,
                                 object == nullptr ? "" : ".", key, what));
  }

  std::string where_;
  const Json& run_;
};

/// Keeps what a comparison looks at.
ComparedRun Compress(ComparedFile& file, const Json& run, size_t index) {
  const Needed needed(file.name, index, run);
  ComparedRun compared;
  compared.label = needed.Text(nullptr, "label");
  compared.repetition = needed.Count("repetition");
  for (const char* key : {"executor", "trace", "window", "design", "kv"}) {
    needed.Object(key);
  }
  needed.Text("executor", "kind");
  needed.Text("trace", "sha256");
  for (const char* key : {"completed", "rejected", "steps", "preemptions", "recomputed_tokens"}) {
    needed.Count(key);
  }
  compared.kind = KindOf(run);
  std::string path;
  Flatten(run, path, [&](const std::string& name, const Json& value) {
    if (MustBeEqual(compared.kind, name)) {
      compared.exact.push_back({file.Name(name), value.dump()});
    }
  });
  if (compared.kind == RunKind::kAllAtOnce || compared.kind == RunKind::kTimed) {
    for (const auto& [key, value] : run.items()) {
      if (value.is_number() && IsTiming(key)) {
        compared.metrics.push_back({file.Name(key), value.get<double>()});
      }
    }
  }
  const auto verification = run.find("verification");
  compared.verification_failed = verification != run.end() && verification->is_object() &&
                                 verification->value("passed", Json()) == false;
  if (const auto timeline = run.find("timeline"); timeline != run.end() && timeline->is_array()) {
    for (const Json& point : *timeline) {
      if (point.is_object() && point.contains("time_s") && point["time_s"].is_number()) {
        compared.step_ends_s.push_back(point["time_s"].get<double>());
      }
    }
  }
  if (const auto origin = run.find("origin"); origin != run.end() && origin->is_object()) {
    const RunSitting sitting = SittingOf(*origin, *origin);
    compared.sitting = sitting.name;
    compared.roof = sitting.roof;
  }
  return compared;
}

void CheckRuns(const ComparedFile& file) {
  if (file.runs.empty()) {
    throw BadResults(fmt::format("{} has no runs: there is nothing to compare", file.name));
  }
  std::set<std::pair<std::string_view, int64_t>> seen;
  for (const ComparedRun& run : file.runs) {
    if (!seen.insert({run.label, run.repetition}).second) {
      throw BadResults(fmt::format("{} has repetition {} of one run twice: {}", file.name,
                                   run.repetition, run.label));
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

ComparedFile ReadComparedFile(const std::string& path, const ReadOptions& options) {
  ComparedFile file;
  file.name = path;
  ResultsHead head;
  BenchmarkReader benchmarks(file);
  bool results = false;
  const auto parse = [&](const std::string& text, const std::string& place) {
    try {
      return Json::parse(text);
    } catch (const Json::exception& error) {
      throw BadResults(fmt::format("{}: {} is no JSON: {}", path, place, WithoutPrefix(error)));
    }
  };
  JsonParts parts;
  parts.skipped = {"samples", "notes"};
  if (!options.timeline) {
    parts.skipped.push_back("timeline");
  }
  parts.on_value = [&](std::string_view key, const std::string& text) {
    const Json value = parse(text, std::string(key));
    if (key == "schema_version") {
      file.minor_version = ReadVersion(path, value);
    }
    results = results || (key == "runs" && value.is_array());
    file.benchmarks = file.benchmarks || (key == "benchmarks" && value.is_array());
    head.Set(key, value);
  };
  parts.on_element = [&](std::string_view key, size_t index, const std::string& text) {
    const Json element = parse(text, fmt::format("{}[{}]", key, index));
    if (key == "benchmarks") {
      benchmarks.Add(element, index);
    } else {
      file.runs.push_back(Compress(file, element, index));
    }
  };
  SplitJsonFile(path, parts);
  if (file.benchmarks) {
    benchmarks.Finish(head);
  } else if (!results || !head.has_version()) {
    throw BadResults(fmt::format(
        "{} is neither a results file of kvbench nor the JSON of Google Benchmark", path));
  } else {
    head.Check(path);
    file.suite = head.suite();
    file.complete = head.complete();
    const RunSitting sitting = head.Sitting();
    for (ComparedRun& run : file.runs) {
      if (run.sitting.empty()) {
        run.sitting = sitting.name;
        run.roof = sitting.roof;
      }
    }
  }
  CheckRuns(file);
  return file;
}

}  // namespace kvbench
