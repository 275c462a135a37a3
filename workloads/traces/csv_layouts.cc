#include "workloads/traces/csv_layouts.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/quoting.h"

namespace kvbench {
namespace {

constexpr CsvLayout kLayouts[] = {
    {.name = "Azure CSV",  // Azure/AzurePublicDataset
     .arrival = "TIMESTAMP",
     .unit = TimeUnit::kTimestamp,
     .prompt = "ContextTokens",
     .output = "GeneratedTokens"},
    {.name = "BurstGPT CSV",  // HPMLL/BurstGPT
     .arrival = "Timestamp",
     .unit = TimeUnit::kSeconds,
     .prompt = "Request tokens",
     .output = "Response tokens",
     .zero_means_failed = true},
    {.name = "vidur CSV",  // microsoft/vidur
     .arrival = "arrived_at",
     .unit = TimeUnit::kSeconds,
     .prompt = "num_prefill_tokens",
     .output = "num_decode_tokens",
     .arrival_is_optional = true},
    {.name = "CSV of input_tokens and output_tokens",
     .arrival = "",
     .prompt = "input_tokens",
     .output = "output_tokens"},
};

constexpr std::pair<std::string_view, TimeUnit> kUnits[] = {
    {"s", TimeUnit::kSeconds},           {"ms", TimeUnit::kMilliseconds},
    {"us", TimeUnit::kMicroseconds},     {"ns", TimeUnit::kNanoseconds},
    {"timestamp", TimeUnit::kTimestamp},
};

[[noreturn]] void RefuseColumns(std::string_view columns, std::string_view sentence) {
  throw Error(fmt::format("--columns {}: {}; write it like arrival=NAME:ms,prompt=NAME,output=NAME",
                          Quoted(columns, 80), sentence));
}

/// "sent at:ms" -> the name into layout.arrival, the unit into layout.unit.
void SetArrival(std::string_view value, std::string_view columns, CsvLayout& layout) {
  const size_t colon = value.rfind(':');
  if (colon == std::string_view::npos) {
    RefuseColumns(columns, "arrival has no unit (s, ms, us, ns or timestamp)");
  }
  const std::string_view name = value.substr(colon + 1);
  const auto* const unit = std::find_if(std::begin(kUnits), std::end(kUnits),
                                        [&](const auto& u) { return u.first == name; });
  if (unit == std::end(kUnits)) {
    RefuseColumns(columns, fmt::format("the unit {} is not one of s, ms, us, ns and timestamp",
                                       Quoted(name)));
  }
  layout.arrival = value.substr(0, colon);
  layout.unit = unit->second;
  if (layout.arrival.empty()) {
    RefuseColumns(columns, "arrival names no column");
  }
}

}  // namespace

std::span<const CsvLayout> CsvLayouts() { return kLayouts; }

CsvLayout ParseColumns(std::string_view columns) {
  CsvLayout layout;
  std::string_view rest = columns;
  while (!rest.empty()) {
    const std::string_view part = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(part.size() + 1, rest.size()));
    const size_t equals = part.find('=');
    if (equals == std::string_view::npos || equals + 1 == part.size()) {
      RefuseColumns(columns, fmt::format("{} names no column", Quoted(part)));
    }
    const std::string_view key = part.substr(0, equals);
    std::string_view* const column = key == "arrival"  ? &layout.arrival
                                     : key == "prompt" ? &layout.prompt
                                     : key == "output" ? &layout.output
                                                       : nullptr;
    if (column == nullptr) {
      RefuseColumns(columns,
                    fmt::format("{} is not one of arrival, prompt and output", Quoted(key)));
    }
    if (!column->empty()) {
      RefuseColumns(columns, fmt::format("{} is there twice", key));
    }
    *column = part.substr(equals + 1);
    if (key == "arrival") {
      SetArrival(*column, columns, layout);
    }
  }
  if (layout.prompt.empty() || layout.output.empty()) {
    RefuseColumns(columns,
                  fmt::format("{} is missing", layout.prompt.empty() ? "prompt" : "output"));
  }
  return layout;
}

std::string ExampleOf(const CsvLayout& layout) {
  const bool has_arrivals = !layout.arrival.empty();
  const auto line = [&](std::string_view arrival, std::string_view prompt,
                        std::string_view output) {
    return fmt::format("{}{}{},{}\n", arrival, has_arrivals ? "," : "", prompt, output);
  };
  const auto time = [&](int second) {
    return !has_arrivals ? std::string()
           : layout.unit == TimeUnit::kTimestamp
               ? fmt::format("2023-11-16 18:15:{}.6805900", second)
               : fmt::format("{}.25", second);
  };
  return line(layout.arrival, layout.prompt, layout.output) + line(time(46), "374", "44") +
         (layout.zero_means_failed ? line(time(48), "0", "0") : "") + line(time(50), "396", "109");
}

}  // namespace kvbench
