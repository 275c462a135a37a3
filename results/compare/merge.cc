#include "results/compare/merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <ostream>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/error.h"
#include "base/json.h"
#include "results/compare/compared_file.h"
#include "results/json/json_layout.h"
#include "results/json/json_parts.h"
#include "results/record/field.h"
#include "results/record/record.h"

namespace kvbench {
namespace {

using OrderedJson = nlohmann::ordered_json;

/// A file's head and how many repetitions of each label it has.
struct MergedFile {
  ComparedFile checked;
  OrderedJson head = OrderedJson::object();
};

/// Calls `read`; what is wrong with the text is said of its file.
template <typename Read>
auto Named(const MergeInput& input, const Read& read) {
  try {
    return read();
  } catch (const Error& error) {
    throw Error(input.name + ": " + error.what());
  }
}

void Walk(const MergeInput& input, JsonWalk walk) {
  walk.lists = {"runs"};
  walk.on_progress = input.on_progress;
  Named(input, [&] { WalkJson(input.text, walk); });
}

MergedFile ReadHead(const MergeInput& input) {
  MergedFile file;
  file.checked = Named(input, [&] {
    ComparedFile checked =
        ParseComparedFile(input.text, input.name, {.on_progress = input.on_progress});
    if (checked.benchmarks) {
      throw Error("this is the JSON of Google Benchmark: only results files are merged");
    }
    return checked;
  });
  JsonWalk walk;
  walk.on_member = [&](std::string_view key, std::string_view value) {
    file.head[std::string(key)] = ParsePart<OrderedJson>(value);
  };
  walk.on_element = [](std::string_view, size_t, JsonScanner& scanner) { scanner.Value(); };
  Walk(input, walk);
  return file;
}

void CheckMergeable(const std::vector<MergedFile>& files) {
  std::map<std::string, std::string> invocations;
  for (const MergedFile& file : files) {
    const std::optional<std::string>& suite = files.front().checked.suite;
    if (file.checked.suite != suite) {
      throw Error(fmt::format("{} is of suite {} and {} of {}: only files of one suite merge",
                              files.front().checked.name, suite.value_or("(none)"),
                              file.checked.name, file.checked.suite.value_or("(none)")));
    }
    const std::string invocation =
        DumpJson(file.head["run_info"]) + DumpJson(file.head["environment"]);
    const auto [found, added] = invocations.emplace(invocation, file.checked.name);
    if (!added) {
      throw Error(
          fmt::format("{} and {} are the same invocation: merging them would count it "
                      "twice",
                      found->second, file.checked.name));
    }
  }
}

/// An object with the keys of the first, null where the files differ. `keep`: the first's instead.
OrderedJson Common(const std::vector<MergedFile>& files, const char* key,
                   const std::set<std::string_view>& keep) {
  OrderedJson common = files.front().head.value(key, OrderedJson::object());
  for (auto& [name, value] : common.items()) {
    for (const MergedFile& file : files) {
      const OrderedJson object = file.head.value(key, OrderedJson::object());
      if (!keep.contains(name) && (!object.contains(name) || object[name] != value)) {
        value = nullptr;
      }
    }
  }
  return common;
}

OrderedJson MergedInfo(const std::vector<MergedFile>& files, const std::string& command_line) {
  OrderedJson info = files.front().head["run_info"];
  double duration = 0;
  std::string started = info.value("started_at", "");
  bool complete = true;
  for (const MergedFile& file : files) {
    const OrderedJson& other = file.head["run_info"];
    duration += other.contains("duration_s") && other["duration_s"].is_number()
                    ? other["duration_s"].get<double>()
                    : 0;
    started = std::min(started, other.value("started_at", started));
    complete = complete && file.checked.complete;
  }
  info["command"] = command_line;
  info["started_at"] = started;
  info["duration_s"] = duration;
  info["complete"] = complete;
  return info;
}

/// What a run's origin says is in the head under the same keys.
OrderedJson OriginOf(const OrderedJson& head) {
  OrderedJson origin;
  for (const Field& field : RunOrigin::Describe().fields()) {
    origin[field.key] = nullptr;
    for (const char* part : {"run_info", "kvbench", "environment"}) {
      if (head.contains(part) && head[part].contains(field.key)) {
        origin[field.key] = head[part][field.key];
      }
    }
  }
  return origin;
}

/// The run with all keys of this version.
OrderedJson WithOrigin(OrderedJson run, const OrderedJson& origin) {
  run = RunRecord::Describe().Complete(std::move(run));
  if (run["origin"].is_null()) {
    run["origin"] = origin;
  }
  return run;
}

/// The newest version of the files, and at least this program's: unknown keys are kept.
std::string MergedVersion(const std::vector<MergedFile>& files) {
  const std::string own = ResultsFile::kSchemaVersion;
  const size_t dot = own.find('.');
  int64_t minor = std::stoll(own.substr(dot + 1));
  for (const MergedFile& file : files) {
    minor = std::max(minor, file.checked.minor_version);
  }
  return fmt::format("{}.{}", own.substr(0, dot), minor);
}

}  // namespace

MergeSummary MergeResults(const std::vector<MergeInput>& inputs, const std::string& command_line,
                          std::ostream& out) {
  std::vector<MergedFile> files;
  files.reserve(inputs.size());
  for (const MergeInput& input : inputs) {
    files.push_back(ReadHead(input));
  }
  CheckMergeable(files);
  const auto write = [&](const char* key, const OrderedJson& value) {
    out << "  \"" << key << "\": ";
    WriteJson(value, 2, out);
    out << ",\n";
  };
  out << "{\n";
  write("schema_version", MergedVersion(files));
  write("kvbench", Common(files, "kvbench", {"version", "build_type", "compiler"}));
  write("environment", Environment::Describe().Complete(Common(files, "environment", {})));
  write("run_info", MergedInfo(files, command_line));
  out << "  \"runs\": [";
  MergeSummary summary;
  std::unordered_map<std::string, int64_t> next;  // repetition of each label
  const char* separator = "\n    ";
  for (size_t i = 0; i < files.size(); ++i) {
    const OrderedJson origin = OriginOf(files[i].head);
    std::unordered_map<std::string, int64_t> after = next;
    JsonWalk walk;
    walk.on_member = [](std::string_view, std::string_view) {};
    walk.on_element = [&](std::string_view, size_t, JsonScanner& scanner) {
      OrderedJson run = WithOrigin(ParsePart<OrderedJson>(scanner.Value()), origin);
      const auto label = run["label"].get<std::string>();
      const auto first = next.find(label);
      const int64_t repetition =
          run["repetition"].get<int64_t>() + (first == next.end() ? 0 : first->second);
      run["repetition"] = repetition;
      int64_t& known = after[label];
      known = std::max(known, repetition + 1);
      out << separator;
      WriteJson(run, 4, out);
      separator = ",\n    ";
      ++summary.runs;
    };
    Walk(inputs[i], walk);
    next = std::move(after);
    ++summary.files;
  }
  out << "\n  ]\n}\n";
  summary.labels = static_cast<int64_t>(next.size());
  return summary;
}

}  // namespace kvbench
