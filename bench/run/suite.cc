#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/error.h"
#include "base/json.h"
#include "bench/run/run_spec.h"
#include "workloads/embedded_data.h"

namespace kvbench {

namespace {

std::string ReadSuiteText(const std::string& path_or_name) {
  const std::vector<std::string> names = SuiteNames();
  if (std::find(names.begin(), names.end(), path_or_name) != names.end()) {
    return std::string(EmbeddedData("suites/" + path_or_name + ".json"));
  }
  std::error_code error;
  if (!std::filesystem::is_regular_file(path_or_name, error)) {
    throw Error(fmt::format("suite '{}': there is no such file, and the built-in suites are {}",
                            path_or_name, fmt::join(names, ", ")));
  }
  std::ifstream file(path_or_name);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) {
    throw Error(fmt::format("suite '{}': cannot be read", path_or_name));
  }
  return text.str();
}

std::string ValueText(const nlohmann::json& value, const std::string& where) {
  if (value.is_string()) {
    return value.get<std::string>();
  }
  if (value.is_boolean()) {
    return value.get<bool>() ? "on" : "off";
  }
  if (value.is_number()) {
    return DumpJson(value);
  }
  throw Error(fmt::format("{}: expected a string, a number, true, false or a list of them", where));
}

void ReadAxis(const std::string& key, const nlohmann::json& value, const std::string& where,
              AxisValues& axes) {
  const auto& fields = RunFields();
  if (std::none_of(fields.begin(), fields.end(),
                   [&](const RunField& field) { return field.name == key; })) {
    throw Error(
        fmt::format("{}: there is no such parameter; `kvbench run --help` lists them", where));
  }
  std::vector<std::string>& values = axes[key];
  if (value.is_array()) {
    for (const nlohmann::json& element : value) {
      values.push_back(ValueText(element, where));
    }
  } else {
    values.push_back(ValueText(value, where));
  }
  if (values.empty()) {
    throw Error(fmt::format("{}: an empty list leaves nothing to run", where));
  }
  values = ExpandValues(values);
}

void ReadRuns(const nlohmann::json& value, const std::string& where, Suite& suite) {
  if (!value.is_array() || value.empty()) {
    throw Error(fmt::format("{}: expected a list of objects, each a set of runs", where));
  }
  for (const nlohmann::json& set : value) {
    const std::string which = fmt::format("{}, set {}", where, suite.runs.size() + 1);
    if (!set.is_object()) {
      throw Error(fmt::format("{}: expected an object with parameters as keys", which));
    }
    AxisValues& axes = suite.runs.emplace_back();
    for (const auto& [key, axis] : set.items()) {
      ReadAxis(key, axis, fmt::format("{}, key '{}'", which, key), axes);
    }
  }
}

}  // namespace

std::vector<AxisValues> Suite::Sets() const {
  if (runs.empty()) {
    return {axes};
  }
  std::vector<AxisValues> sets;
  for (const AxisValues& own : runs) {
    AxisValues set = axes;
    for (const auto& [axis, values] : own) {
      set[axis] = values;
    }
    sets.push_back(std::move(set));
  }
  return sets;
}

Suite LoadSuite(const std::string& path_or_name) {
  return ParseSuite(ReadSuiteText(path_or_name), path_or_name);
}

Suite ParseSuite(const std::string& text, const std::string& path_or_name) {
  nlohmann::json json;
  try {
    json = ParseJson(text);
  } catch (const nlohmann::json::parse_error& error) {
    const auto end = text.begin() + static_cast<std::ptrdiff_t>(std::min(error.byte, text.size()));
    throw Error(fmt::format("suite '{}', line {}: not valid JSON", path_or_name,
                            1 + std::count(text.begin(), end, '\n')));
  }
  if (!json.is_object()) {
    throw Error(fmt::format("suite '{}': expected a JSON object", path_or_name));
  }
  Suite suite;
  suite.name = std::filesystem::path(path_or_name).stem().string();
  for (const auto& [key, value] : json.items()) {
    const std::string where = fmt::format("suite '{}', key '{}'", path_or_name, key);
    if (key == "name") {
      suite.name = ValueText(value, where);
      continue;
    }
    if (key == "description") {
      suite.description = ValueText(value, where);
      continue;
    }
    if (key == "runs") {
      ReadRuns(value, where, suite);
      continue;
    }
    ReadAxis(key, value, where, suite.axes);
  }
  return suite;
}

}  // namespace kvbench
