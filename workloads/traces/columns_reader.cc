#include <fmt/format.h>

#include <optional>
#include <utility>

#include "base/error.h"
#include "base/quoting.h"
#include "workloads/traces/trace_formats.h"

namespace kvbench {
namespace {

constexpr std::pair<std::string_view, TimeUnit> kUnits[] = {
    {"s", TimeUnit::kSeconds},           {"ms", TimeUnit::kMilliseconds},
    {"us", TimeUnit::kMicroseconds},     {"ns", TimeUnit::kNanoseconds},
    {"timestamp", TimeUnit::kTimestamp},
};

[[noreturn]] void Fail(std::string_view columns, std::string_view sentence) {
  throw Error(fmt::format("--columns {}: {}; write it like arrival=NAME:ms,prompt=NAME,output=NAME",
                          Quoted(columns, 80), sentence));
}

/// "sent at:ms" -> the name into layout.arrival, the unit into layout.unit.
void SetArrival(std::string_view value, std::string_view columns, CsvLayout& layout) {
  const size_t colon = value.rfind(':');
  if (colon == std::string_view::npos) {
    Fail(columns, "arrival has no unit (s, ms, us, ns or timestamp)");
  }
  const std::string_view name = value.substr(colon + 1);
  for (const auto& [unit_name, unit] : kUnits) {
    if (name == unit_name) {
      layout.arrival = value.substr(0, colon);
      layout.unit = unit;
      return;
    }
  }
  Fail(columns, fmt::format("the unit {} is not one of s, ms, us, ns and timestamp", Quoted(name)));
}

CsvLayout ParseColumns(std::string_view columns) {
  CsvLayout layout;
  std::string_view rest = columns;
  while (!rest.empty()) {
    const std::string_view part = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(part.size() + 1, rest.size()));
    const size_t equals = part.find('=');
    if (equals == std::string_view::npos || equals + 1 == part.size()) {
      Fail(columns, fmt::format("{} names no column", Quoted(part)));
    }
    const std::string_view key = part.substr(0, equals);
    const std::string_view value = part.substr(equals + 1);
    if ((key == "prompt" && !layout.prompt.empty()) ||
        (key == "output" && !layout.output.empty()) ||
        (key == "arrival" && !layout.arrival.empty())) {
      Fail(columns, fmt::format("{} is there twice", key));
    }
    if (key == "arrival") {
      SetArrival(value, columns, layout);
      if (layout.arrival.empty()) {
        Fail(columns, "arrival names no column");
      }
    } else if (key == "prompt") {
      layout.prompt = value;
    } else if (key == "output") {
      layout.output = value;
    } else {
      Fail(columns, fmt::format("{} is not one of arrival, prompt and output", Quoted(key)));
    }
  }
  if (layout.prompt.empty() || layout.output.empty()) {
    Fail(columns, fmt::format("{} is missing", layout.prompt.empty() ? "prompt" : "output"));
  }
  return layout;
}

}  // namespace

void ReadByColumns(const CsvText& csv, std::string_view columns, TraceBuilder& builder) {
  ReadCsv(csv, ParseColumns(columns), builder);
}

}  // namespace kvbench
