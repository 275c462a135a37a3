#include "results/export/export_csv.h"

#include <nlohmann/json.hpp>
#include <ostream>

#include "results/record/json_writer.h"

namespace kvbench {
namespace {

using Json = nlohmann::ordered_json;

/// Column names in order; those of an object that may be null are known from one that is not.
void AddColumns(const Json& object, const std::string& prefix, std::vector<std::string>& columns) {
  for (const auto& [key, value] : object.items()) {
    if (value.is_object()) {
      AddColumns(value, prefix + key + ".", columns);
    } else if (!value.is_array()) {
      columns.push_back(prefix + key);
    }
  }
}

/// A run in which no object is null.
RunRecord Prototype() {
  RunRecord run;
  run.executor.roofs.emplace();
  run.origin.emplace().gpu.emplace();
  run.while_waiting.emplace();
  run.operations.emplace();
  run.kv.usage_per_step.emplace();
  run.kv.usage_over_time.emplace();
  run.kv.paper_fig2.emplace();
  run.verification.emplace();
  run.phases.emplace();
  run.samples.requests.emplace();  // lists rather than null: no columns
  return run;
}

/// The value at "kv.usage_per_step.live", or null.
const Json& ValueAt(const Json& run, std::string_view path) {
  static const Json kNull;
  const Json* at = &run;
  for (;;) {
    const size_t dot = path.find('.');
    const auto member = at->find(std::string(path.substr(0, dot)));
    if (member == at->end() || dot == std::string_view::npos) {
      return member == at->end() ? kNull : *member;
    }
    at = &*member;
    if (!at->is_object()) {
      return kNull;
    }
    path.remove_prefix(dot + 1);
  }
}

std::string Field(const Json& value) {
  if (value.is_null()) {
    return "";
  }
  return value.is_string() ? CsvField(value.get_ref<const std::string&>()) : value.dump();
}

}  // namespace

std::string CsvField(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
    return std::string(text);
  }
  std::string field = "\"";
  for (const char c : text) {
    field += c == '"' ? "\"\"" : std::string(1, c);
  }
  return field + "\"";
}

void WriteRunsCsv(const std::vector<const RunRecord*>& runs, std::ostream& out) {
  std::vector<std::string> columns;
  AddColumns(RunJson(Prototype()), "", columns);
  const char* separator = "";
  for (const std::string& column : columns) {
    out << separator << column;
    separator = ",";
  }
  out << "\n";
  for (const RunRecord* run : runs) {
    const Json json = RunJson(*run);
    separator = "";
    for (const std::string& column : columns) {
      out << separator << Field(ValueAt(json, column));
      separator = ",";
    }
    out << "\n";
  }
}

}  // namespace kvbench
