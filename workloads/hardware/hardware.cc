#include "workloads/hardware/hardware.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/error.h"
#include "base/json.h"
#include "base/quoting.h"
#include "base/text_file.h"
#include "workloads/embedded_data.h"

namespace kvbench {
namespace {

using nlohmann::json;

constexpr std::string_view kHardwareFile = "data/hardware.json";
/// Far above every machine; with it products of sizes and rates stay exact enough in a double.
constexpr double kMostOfAnything = 1e18;

[[noreturn]] void Fail(std::string_view where, std::string_view sentence) {
  throw Error(fmt::format("{}: {}", where, sentence));
}

double PositiveNumber(const json& object, const char* key, std::string_view what,
                      std::string_view where) {
  const auto value = object.find(key);
  if (value == object.end()) {
    Fail(where, fmt::format("{} is missing; add it: {}", key, what));
  }
  const double number = value->is_number() ? value->get<double>() : 0.0;
  if (!(number > 0 && number <= kMostOfAnything)) {
    Fail(where,
         fmt::format("{} is {}; it is a number above 0: {}", key, Quoted(value->dump(), 30), what));
  }
  return number;
}

int64_t PositiveInteger(const json& object, const char* key, std::string_view what,
                        std::string_view where) {
  const double number = PositiveNumber(object, key, what, where);
  if (number != std::floor(number)) {
    Fail(where, fmt::format("{} is {}; it is a whole number: {}", key,
                            Quoted(DumpJson(object.at(key)), 30), what));
  }
  return static_cast<int64_t>(number);
}

std::string Text(const json& object, const char* key, const std::string& absent,
                 std::string_view where) {
  const auto value = object.find(key);
  if (value == object.end()) {
    return absent;
  }
  if (!value->is_string() || value->get_ref<const std::string&>().empty()) {
    Fail(where, fmt::format("{} is {}; it is a text in quotes", key, Quoted(value->dump(), 30)));
  }
  return value->get<std::string>();
}

/// One machine. `name` and `source` are for an object that does not have these keys.
Hardware ParseHardware(const json& object, const std::string& name, const std::string& source,
                       const std::string& where) {
  const std::vector<std::string> keys = {"name",
                                         "memory_bytes",
                                         "memory_bandwidth_bytes_per_s",
                                         "dense_flops_per_s",
                                         "source",
                                         "last_level_cache_bytes",
                                         "link_bytes_per_s"};
  if (!object.is_object()) {
    Fail(where, fmt::format("this is no JSON object; it has the keys {} in braces",
                            fmt::join(keys, ", ")));
  }
  for (const auto& [key, value] : object.items()) {
    if (std::find(keys.begin(), keys.end(), key) == keys.end()) {
      Fail(where,
           fmt::format("there is no key {}; the keys are {}", Quoted(key), fmt::join(keys, ", ")));
    }
  }
  Hardware hardware;
  hardware.name = Text(object, "name", name, where);
  hardware.memory_bytes = PositiveInteger(
      object, "memory_bytes", "the bytes that a program can allocate at most on one device", where);
  hardware.memory_bandwidth_bytes_per_s = PositiveNumber(
      object, "memory_bandwidth_bytes_per_s", "the peak of the memory in bytes per second", where);
  hardware.dense_flops_per_s =
      PositiveNumber(object, "dense_flops_per_s",
                     "fp16 operations per second with fp32 accumulation, without sparsity", where);
  hardware.last_level_cache_bytes = PositiveInteger(
      object, "last_level_cache_bytes", "the last cache that all cores share, in bytes", where);
  hardware.link_bytes_per_s = PositiveNumber(
      object, "link_bytes_per_s", "bytes per second to the other devices in one direction", where);
  hardware.source = Text(object, "source", source, where);
  return hardware;
}

std::vector<Hardware> ReadHardwareFile() {
  std::vector<Hardware> all;
  const json file = ParseJson(EmbeddedData(kHardwareFile));
  for (const json& entry : file.at("hardware")) {
    const std::string where = fmt::format("{}, entry {}", kHardwareFile, all.size() + 1);
    all.push_back(ParseHardware(entry, "", "", where));
  }
  return all;
}

Hardware ReadHardware(const std::string& path) {
  constexpr size_t kMostBytes = size_t{1} << 20;
  const std::string where = ShownPath(path);
  const std::string text = ReadTextFile(path, kMostBytes);
  json object;
  try {
    object = ParseJson(text);
  } catch (const json::parse_error& error) {
    Fail(where, fmt::format("the file is no JSON: something is wrong at byte {} of {}", error.byte,
                            text.size()));
  } catch (const json::exception&) {
    Fail(where, "a number in the file is too large");
  }
  return ParseHardware(object, FileStem(path), where, where);
}

}  // namespace

const std::vector<Hardware>& BuiltInHardware() {
  static const std::vector<Hardware> hardware = ReadHardwareFile();
  return hardware;
}

Hardware LoadHardware(const std::string& name_or_path) {
  if (name_or_path.find('/') != std::string::npos || name_or_path.ends_with(".json")) {
    return ReadHardware(name_or_path);
  }
  std::vector<std::string> names;
  for (const Hardware& hardware : BuiltInHardware()) {
    if (hardware.name == name_or_path) {
      return hardware;
    }
    names.push_back(hardware.name);
  }
  const std::vector<std::string> close = CloseNames(name_or_path, names);
  throw Error(fmt::format(
      "there is no hardware {}{}; give the path of a JSON file that describes one or one of {}",
      Quoted(name_or_path),
      close.empty() ? "" : fmt::format(" (close: {})", fmt::join(close, ", ")),
      fmt::join(names, ", ")));
}

}  // namespace kvbench
