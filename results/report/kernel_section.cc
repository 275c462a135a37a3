#include <fmt/format.h>

#include <array>
#include <map>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/statistics.h"
#include "base/text.h"
#include "results/json/json_value.h"
#include "results/record/json_reader.h"
#include "results/report/sections.h"

namespace kvbench {
namespace {

constexpr double kGiga = 1e9;
constexpr size_t kMostBars = 40;
constexpr std::array<const char*, 3> kBandwidths = {"kv_bytes_per_s", "copied_bytes_per_s",
                                                    "weight_bytes_per_s"};

/// The repetitions of one benchmark.
struct Kernel {
  std::vector<double> bytes_per_s;
  std::vector<double> roof;
  std::vector<double> share;
  const char* key = "";
};

void Add(const JsonValue& value, std::vector<double>& values) {
  if (!value.is_null()) {
    values.push_back(value.Number());
  }
}

/// "decode/paged/block:16/threads:1/manual_time" without what says how it was timed.
std::string ShortName(const std::string& name) {
  std::string text = PrintableAscii(name);
  for (const std::string ending : {"/manual_time", "/real_time"}) {
    if (text.size() > ending.size() && text.ends_with(ending)) {
      text.resize(text.size() - ending.size());
    }
  }
  return text;
}

std::optional<double> Scaled(std::vector<double> values, double scale) {
  const std::optional<double> median = Median(std::move(values));
  return median ? std::optional(scale * *median) : std::nullopt;
}

std::string Where(const JsonValue& context) {
  if (context.is_null()) {
    return "";
  }
  std::string where;
  for (const char* key : {"cpu_model", "cpu_isa", "date", "kvbench_version", "kvbench_commit"}) {
    if (const JsonValue value = context.At(key); value.json().is_string()) {
      where += (where.empty() ? "" : ", ") + PrintableAscii(value.String());
    }
  }
  return where;
}

}  // namespace

ReportSection KernelSection(std::string_view benchmark_json) {
  const nlohmann::json json = ParseJson(benchmark_json);
  const JsonValue file(json, "");
  const JsonValue benchmarks = file.At("benchmarks");
  std::vector<std::string> names;
  std::map<std::string, Kernel> kernels;
  for (size_t i = 0; i < benchmarks.size(); ++i) {
    const JsonValue benchmark = benchmarks.At(i);
    const JsonValue type = benchmark.At("run_type");
    if (benchmark.At("roof_bytes_per_s").is_null() ||
        (!type.is_null() && type.String() == "aggregate")) {
      continue;
    }
    for (const char* key : kBandwidths) {
      if (benchmark.At(key).is_null()) {
        continue;
      }
      const std::string name = ShortName(benchmark.At("name").String());
      if (!kernels.contains(name)) {
        names.push_back(name);
      }
      Kernel& kernel = kernels[name];
      kernel.key = key;
      Add(benchmark.At(key), kernel.bytes_per_s);
      Add(benchmark.At("roof_bytes_per_s"), kernel.roof);
      Add(benchmark.At("roof_share"), kernel.share);
      break;
    }
  }
  if (names.empty()) {
    throw Error(
        "there is no benchmark with a roof measured beside it (decode, write, copy or dense)");
  }
  ReportChart chart;
  chart.title = "Bandwidth of the kernels";
  ChartPanel panel;
  panel.kind = ChartPanel::Kind::kBars;
  panel.x = "GB/s";
  panel.series = {{"kernel", "kernel"}, {"read roof", "roof"}};
  chart.numbers.title = "Bandwidth of the kernels";
  chart.numbers.columns = {{"kernel", "", ""},
                           {"bandwidth", "GB/s", "kv_bytes_per_s"},
                           {"read roof", "GB/s", "roof_bytes_per_s"},
                           {"of the roof", "%", "roof_share"}};
  for (const std::string& name : names) {
    const Kernel& kernel = kernels[name];
    const std::optional<double> bandwidth = Scaled(kernel.bytes_per_s, 1 / kGiga);
    const std::optional<double> roof = Scaled(kernel.roof, 1 / kGiga);
    if (panel.categories.size() < kMostBars) {
      panel.categories.push_back(name);
      panel.series[0].values.push_back(bandwidth);
      panel.series[1].values.push_back(roof);
    }
    chart.numbers.rows.push_back({name,
                                  {{name, std::nullopt},
                                   NumberCell(bandwidth),
                                   NumberCell(roof),
                                   NumberCell(Scaled(kernel.share, 100))}});
  }
  chart.caption = fmt::format("Medians over repetitions. {}.", Where(file.At("context")));
  chart.panels.push_back(std::move(panel));
  return {"kernels",
          "Kernels against the read roof",
          "The roof is what this machine read at best, measured beside each kernel; a share above "
          "100 % means that part of the data came from a cache.",
          {},
          {std::move(chart)}};
}

}  // namespace kvbench
