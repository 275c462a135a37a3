#include "results/record/json_reader.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "results/json/json_parts.h"
#include "results/json/json_value.h"
#include "results/record/field.h"
#include "results/record/schema_version.h"
#include "results/record/timeline_reader.h"

namespace kvbench {
namespace {

constexpr std::string_view kRunsKey = "runs";
constexpr std::string_view kTimelineKey = "timeline";

/// The run that comes next. Its timeline is cut out before the rest is parsed: it is most of it.
RunRecord ParseRun(JsonScanner& scanner, const std::string& name, const ReadOptions& options) {
  const CutObject object = CutMembers(scanner, name, {kTimelineKey});
  const nlohmann::json json = ParsePart(object.rest);
  RunRecord run;
  RunRecord::Describe().Read(JsonValue(json, name), &run);
  const std::string_view timeline = object.values.front();
  if (timeline != "null" && (!options.wants_timeline || options.wants_timeline(run))) {
    run.timeline = ParseTimeline(timeline, name + "." + std::string(kTimelineKey));
  }
  return run;
}

}  // namespace

ResultsKind KindOfResults(std::string_view text) {
  JsonScanner scanner(text);
  std::string_view key;
  if (!scanner.EnterObject()) {
    return ResultsKind::kUnknown;
  }
  while (scanner.NextMember(key)) {
    if (key == "schema_version" || key == kRunsKey) {
      return ResultsKind::kResults;
    }
    if (key == "benchmarks") {
      return ResultsKind::kBenchmark;
    }
    if (scanner.Value().starts_with("\"kvbench paper") && key == "format") {
      return ResultsKind::kPaper;
    }
  }
  return ResultsKind::kUnknown;
}

int64_t WalkResults(std::string_view text, const OnRun& on_run, ResultsFile& file,
                    const std::function<void(size_t)>& on_progress) {
  nlohmann::json head = nlohmann::json::object();
  JsonWalk walk;
  walk.lists = {kRunsKey};
  walk.on_member = [&](std::string_view key, std::string_view value) {
    nlohmann::json& member = head[std::string(key)] = ParsePart(value);
    if (key == "schema_version") {
      MinorVersion(JsonValue(member, key));  // what follows may be of another shape
    }
  };
  walk.on_element = [&](std::string_view list, size_t index, JsonScanner& scanner) {
    on_run(fmt::format("{}[{}]", list, index), scanner);
  };
  walk.on_progress = on_progress;
  WalkJson(text, walk);
  const JsonValue top(head, "");
  const int64_t minor = MinorVersion(top.At("schema_version"));
  ResultsFile::Describe().Read(top, &file);
  if (!top.At(kRunsKey).json().is_array()) {
    throw Error("there is no list of runs");
  }
  return minor;
}

ResultsFile ParseResults(std::string_view text, const ReadOptions& options) {
  ResultsFile file;
  const auto on_run = [&](const std::string& name, JsonScanner& scanner) {
    file.runs.push_back(ParseRun(scanner, name, options));
  };
  WalkResults(text, on_run, file, options.on_progress);
  return file;
}

}  // namespace kvbench
