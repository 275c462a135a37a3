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

/// Adds a member to the text of an object without its closing bracket.
void Append(std::string_view key, std::string_view value, std::string& object) {
  object.append(object.empty() ? "{\"" : ",\"").append(key).append("\":").append(value);
}

std::string Closed(const std::string& object) { return object.empty() ? "{}" : object + "}"; }

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

/// The run that comes next. Its timeline is cut off before the rest is parsed: it is most of it.
RunRecord ParseRun(JsonScanner& scanner, const std::string& name, const ReadOptions& options) {
  if (scanner.AtEnd()) {
    throw NoJson();
  }
  if (!scanner.EnterObject()) {
    throw ResultsError(name + " is no object");
  }
  std::string rest;
  std::string_view timeline = "null";
  std::string_view key;
  while (scanner.NextMember(key)) {
    const std::string_view value = scanner.Value();
    if (key == kTimelineKey) {
      timeline = value;
    } else {
      Append(key, value, rest);
    }
  }
  if (scanner.failed()) {
    throw NoJson();
  }
  const Json json = Parsed(Closed(rest));
  RunRecord run;
  Read(JsonValue(json, name), run);
  if (timeline != "null" && (!options.wants_timeline || options.wants_timeline(run))) {
    run.timeline = ParseTimeline(timeline, name + "." + std::string(kTimelineKey));
  }
  return run;
}

void ParseRuns(JsonScanner& scanner, const ReadOptions& options, std::vector<RunRecord>& runs) {
  if (!scanner.EnterArray()) {
    throw ResultsError("there is no list of runs");
  }
  while (scanner.NextElement()) {
    runs.push_back(ParseRun(scanner, fmt::format("runs[{}]", runs.size()), options));
    if (options.on_progress) {
      options.on_progress(scanner.position());
    }
  }
}

/// Checks the version as soon as it is known: what follows may be of another shape.
void CheckVersionIn(std::string_view value) {
  const Json json = Parsed("{\"schema_version\":" + std::string(value) + "}");
  CheckVersion(JsonValue(json, ""));
}

ResultsFile Parse(std::string_view text, const ReadOptions& options) {
  JsonScanner scanner(text);
  if (!scanner.EnterObject()) {
    throw NoJson();
  }
  ResultsFile file;
  std::string head;
  bool has_runs = false;
  std::string_view key;
  while (scanner.NextMember(key)) {
    if (key == kRunsKey && scanner.Peek() == '[') {
      has_runs = true;
      ParseRuns(scanner, options, file.runs);
      continue;
    }
    const std::string_view value = scanner.Value();
    Append(key, value, head);
    if (key == "schema_version") {
      CheckVersionIn(value);
    }
  }
  if (!scanner.AtEnd()) {
    throw NoJson();
  }
  const Json json = Parsed(Closed(head));
  const JsonValue top(json, "");
  CheckVersion(top);
  Read(top.At("kvbench"), file.kvbench);
  Read(top.At("environment"), file.environment);
  Read(top.At("run_info"), file.run_info);
  if (!has_runs) {
    throw ResultsError("there is no list of runs");
  }
  return file;
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

ResultsFile ParseResults(std::string_view text, const ReadOptions& options) {
  try {
    return Parse(text, options);
  } catch (const NoJson&) {
    const std::string why = WhyNotJson(text);
    throw ResultsError(why.empty() ? "this is JSON, but no object" : why);
  }
}

}  // namespace kvbench
