#include "results/json_reader.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "results/json_scanner.h"
#include "results/json_value.h"
#include "results/record_reader.h"
#include "results/text.h"
#include "results/timeline_reader.h"

namespace kvbench {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kRunsKey = "runs";
constexpr std::string_view kTimelineKey = "timeline";

/// A part of the text is no JSON; the whole of it tells the line.
struct NoJson {};

Json Parsed(std::string_view text) {
  Json json = Json::parse(text.begin(), text.end(), nullptr, false);
  if (json.is_discarded()) {
    throw NoJson();
  }
  return json;
}

/// The object without the member `key`, whose value goes to `value`.
std::string Without(std::string_view key, std::string_view object, std::string_view& value) {
  std::string rest = "{";
  const bool whole =
      ForEachMember(object, [&](std::string_view member, std::string_view member_value) {
        if (member == key) {
          value = member_value;
        } else {
          rest.append(rest.size() > 1 ? ",\"" : "\"").append(member).append("\":");
          rest.append(member_value);
        }
        return true;
      });
  if (!whole) {
    throw NoJson();
  }
  return rest + "}";
}

/// "1.1" of this program's major version. Throws ResultsError for another one.
void CheckVersion(const JsonValue& file) {
  const JsonValue value = file.At("schema_version");
  if (value.is_null()) {
    throw ResultsError("there is no schema_version: this is no results file of kvbench");
  }
  const std::string version = value.String();
  const std::string ours = ResultsFile::kSchemaVersion;
  const std::string major = ours.substr(0, ours.find('.') + 1);
  if (version.substr(0, major.size()) != major || version.size() == major.size() ||
      version.find_first_not_of("0123456789", major.size()) != std::string::npos) {
    throw ResultsError(fmt::format(
        "schema_version is '{}'; this kvbench reads {}x (it writes {}): use the one that wrote it",
        PrintableAscii(version), major, ours));
  }
}

RunRecord ParseRun(std::string_view text, const std::string& name, const ReadOptions& options) {
  std::string_view timeline = "null";
  const Json json = Parsed(Without(kTimelineKey, text, timeline));
  RunRecord run;
  Read(JsonValue(json, name), run);
  if (options.timelines && timeline != "null") {
    run.timeline = ParseTimeline(timeline, name + "." + std::string(kTimelineKey));
  }
  return run;
}

ResultsFile Parse(std::string_view text, const ReadOptions& options) {
  std::string_view runs;
  const Json head = Parsed(Without(kRunsKey, text, runs));
  const JsonValue top(head, "");
  CheckVersion(top);
  ResultsFile file;
  Read(top.At("kvbench"), file.kvbench);
  Read(top.At("environment"), file.environment);
  Read(top.At("run_info"), file.run_info);
  if (runs.empty() || runs.front() != '[') {
    throw ResultsError("there is no list of runs");
  }
  const bool whole = ForEachElement(runs, [&](std::string_view run) {
    if (run.front() != '{') {
      throw ResultsError(fmt::format("runs[{}] is no object", file.runs.size()));
    }
    file.runs.push_back(ParseRun(run, fmt::format("runs[{}]", file.runs.size()), options));
    return true;
  });
  if (!whole) {
    throw NoJson();
  }
  return file;
}

}  // namespace

ResultsKind KindOfResults(std::string_view text) {
  ResultsKind kind = ResultsKind::kUnknown;
  ForEachMember(text, [&](std::string_view key, std::string_view value) {
    if (key == "schema_version" || key == kRunsKey) {
      kind = ResultsKind::kResults;
    } else if (key == "benchmarks") {
      kind = ResultsKind::kBenchmark;
    } else if (key == "format" && value.substr(0, 14) == "\"kvbench paper") {
      kind = ResultsKind::kPaper;
    }
    return kind == ResultsKind::kUnknown;
  });
  return kind;
}

ResultsFile ParseResults(std::string_view text, const ReadOptions& options) {
  try {
    return Parse(text, options);
  } catch (const NoJson&) {
    const std::string why = WhyNotJson(text);
    throw ResultsError(why.empty() ? "this is JSON, but no object" : why);
  }
}

}  // namespace kvbench
