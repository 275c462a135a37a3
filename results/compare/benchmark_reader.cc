#include "results/compare/benchmark_reader.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json.h"

namespace kvbench {
namespace {

using Json = nlohmann::json;

double NanosecondsIn(const std::string& unit) {
  return unit == "s" ? 1e9 : unit == "ms" ? 1e6 : unit == "us" ? 1e3 : 1;
}

/// Numbers that say how it was run, not how fast it was.
bool IsBookkeeping(const std::string& key) {
  return key == "family_index" || key == "per_family_instance_index" || key == "repetitions" ||
         key == "repetition_index" || key == "threads" || key == "iterations" || key == "sequences";
}

}  // namespace

void BenchmarkReader::Add(const Json& benchmark, const std::string& name) {
  if (!benchmark.contains("name") || !benchmark["name"].is_string()) {
    throw Error(name + " has no name");
  }
  if (benchmark.value("run_type", Json("iteration")) != "iteration") {
    aggregates_ = true;
    return;
  }
  if (benchmark.value("error_occurred", Json(false)) == true) {
    return;
  }
  ComparedRun run;
  run.kind = RunKind::kBenchmark;
  run.label = benchmark["name"].get<std::string>();
  int64_t& next = repetitions_[run.label];
  run.repetition =
      benchmark.contains("repetition_index") && benchmark["repetition_index"].is_number_integer()
          ? benchmark["repetition_index"].get<int64_t>()
          : next;
  ++next;
  const Json unit = benchmark.value("time_unit", Json("ns"));
  const double scale = NanosecondsIn(unit.is_string() ? unit.get<std::string>() : "ns");
  for (const auto& [key, value] : benchmark.items()) {
    if (!value.is_number() || IsBookkeeping(key)) {
      continue;
    }
    const bool time = key == "real_time" || key == "cpu_time";
    const double number = value.get<double>() * (time ? scale : 1);
    run.metrics.push_back({file_.Name(time ? key + "_ns" : key), number});
  }
  if (!run.Metric("real_time_ns")) {
    throw Error(name + ".real_time is no number");
  }
  for (const char* roof : {"roof_bytes_per_s", "fma_flops_per_s"}) {
    const std::optional<double> value = run.Metric(roof);
    if (value && *value > 0 && !run.roof) {
      run.roof = RunRoof{*value, std::nullopt};
    }
  }
  file_.runs.push_back(std::move(run));
}

void BenchmarkReader::Finish(const Json& head) {
  if (aggregates_ && file_.runs.empty()) {
    throw Error(
        "it holds aggregates alone: a comparison needs the repetitions, which Google Benchmark "
        "writes with --benchmark_out=FILE");
  }
  const Json context = head.value("context", Json::object());
  const auto text = [&](const char* key, const char* otherwise) {
    const auto found = context.is_object() ? context.find(key) : context.end();
    return found != context.end() && found->is_string() ? found->get<std::string>()
                                                        : std::string(otherwise);
  };
  const Json cpus = context.is_object() ? context.value("num_cpus", Json()) : Json();
  const std::string machine = text("cpu_model", text("host_name", "an unknown CPU").c_str());
  const std::string made_on =
      fmt::format("{}{} on {}", machine, cpus.is_number() ? ", " + DumpJson(cpus) + " cores" : "",
                  text("date", "an unknown day").substr(0, 10));
  for (ComparedRun& run : file_.runs) {
    run.made_on = made_on;
  }
}

}  // namespace kvbench
