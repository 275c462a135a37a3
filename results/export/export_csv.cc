#include "results/export/export_csv.h"

#include <nlohmann/json.hpp>
#include <ostream>

#include "base/json.h"
#include "results/record/field.h"
#include "results/record/json_writer.h"

namespace kvbench {
namespace {

using Json = nlohmann::ordered_json;

std::string CsvText(const Json& value) {
  if (value.is_null()) {
    return "";
  }
  return value.is_string() ? CsvField(value.get_ref<const std::string&>()) : DumpJson(value);
}

/// Calls `add` for every field that holds one value, with its path and what it is in a run; null
/// for all of an object that is null.
template <typename Add>
void ForEachColumn(const Description& object, const std::string& prefix, const Json& json,
                   const Add& add) {
  for (const Field& field : object.fields()) {
    if (field.codec->type == FieldType::kList || field.options.flat) {
      continue;  // the one flat object holds lists
    }
    const Json value = json.is_null() ? Json() : json.at(field.key);
    if (field.object() != nullptr) {
      ForEachColumn(*field.object(), prefix + field.key + ".", value, add);
    } else {
      add(prefix + field.key, value);
    }
  }
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
  const auto line = [&](const Json& run, const auto& text) {
    const char* separator = "";
    ForEachColumn(RunRecord::Describe(), "", run, [&](const std::string& path, const Json& value) {
      out << separator << text(path, value);
      separator = ",";
    });
    out << "\n";
  };
  line(Json(), [](const std::string& path, const Json&) { return path; });
  for (const RunRecord* run : runs) {
    line(RunJson(*run), [](const std::string&, const Json& value) { return CsvText(value); });
  }
}

}  // namespace kvbench
