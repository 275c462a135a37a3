#include "results/json/json_layout.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <string>

#include "base/json.h"

namespace kvbench {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kItemColumns = 220;  // an object in an array: a row of a table rather than text
constexpr int kStep = 2;

std::string Scalar(const Json& value) { return DumpJson(value); }

std::string Key(const std::string& key) { return Scalar(Json(key)) + ": "; }

/// Appends the value on one line; false, with `line` spoiled, once that takes more than `room`
/// characters.
bool AppendInline(const Json& value, size_t room, std::string& line) {
  if (!value.is_structured()) {
    line += Scalar(value);
    return line.size() <= room;
  }
  const bool is_object = value.is_object();
  line += is_object ? '{' : '[';
  bool first = true;
  for (auto item = value.begin(); item != value.end(); ++item) {
    if (!first) {
      line += ", ";
    }
    first = false;
    if (is_object) {
      line += Key(item.key());
    }
    if (!AppendInline(*item, room, line)) {
      return false;
    }
  }
  line += is_object ? '}' : ']';
  return line.size() <= room;
}

std::optional<std::string> Inline(const Json& value, int room) {
  std::string line;
  if (room <= 0 || !AppendInline(value, static_cast<size_t>(room), line)) {
    return std::nullopt;
  }
  return line;
}

bool IsScalarArray(const Json& value) {
  for (const Json& item : value) {
    if (item.is_structured()) {
      return false;
    }
  }
  return value.is_array();
}

void WriteFilled(const Json& array, int indent, std::ostream& out) {
  constexpr size_t kColumns = 100;
  const std::string margin(static_cast<size_t>(indent + kStep), ' ');
  std::string line = margin;
  out << "[\n";
  for (size_t i = 0; i < array.size(); ++i) {
    const std::string item = Scalar(array[i]) + (i + 1 < array.size() ? "," : "");
    if (line.size() > margin.size() && line.size() + 1 + item.size() > kColumns) {
      out << line << '\n';
      line = margin;
    }
    line += (line.size() > margin.size() ? " " : "") + item;
  }
  out << line << '\n' << std::string(static_cast<size_t>(indent), ' ') << ']';
}

/// `used`: columns before the value on its first line.
void Write(const Json& value, int indent, int used, bool is_item, int columns, std::ostream& out) {
  // One column is left for the comma that may follow.
  const int room = is_item && value.is_object() ? kItemColumns : columns;
  if (const auto line = Inline(value, room - used - 1)) {
    out << *line;
  } else if (!value.is_structured()) {
    out << Scalar(value);
  } else if (IsScalarArray(value)) {
    WriteFilled(value, indent, out);
  } else {
    const bool is_object = value.is_object();
    const std::string margin(static_cast<size_t>(indent + kStep), ' ');
    out << (is_object ? "{\n" : "[\n");
    size_t left = value.size();
    for (auto item = value.begin(); item != value.end(); ++item) {
      const std::string key = is_object ? Key(item.key()) : "";
      out << margin << key;
      Write(*item, indent + kStep, indent + kStep + static_cast<int>(key.size()), !is_object,
            columns, out);
      out << (--left > 0 ? ",\n" : "\n");
    }
    out << std::string(static_cast<size_t>(indent), ' ') << (is_object ? '}' : ']');
  }
}

}  // namespace

void WriteJson(const Json& value, int indent, std::ostream& out, int columns) {
  Write(value, indent, indent, false, columns, out);
}

}  // namespace kvbench
