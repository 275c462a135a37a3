#include "bench/gpu/report.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/statistics.h"
#include "bench/gpu/targets.h"
#include "bench/machine/environment.h"
#include "kernels/checks/device_attention_cases.h"

namespace kvbench::gpu {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kSchemaVersion = "1.0";

template <typename T>
Json OrNull(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}
Json Finite(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }
Json Clocks(const std::optional<GpuClocks>& clocks) {
  return clocks ? Json{{"sm_mhz", clocks->sm_mhz}, {"memory_mhz", clocks->memory_mhz}}
                : Json(nullptr);
}

Json Times(const std::vector<double>& seconds) {
  std::vector<double> sorted = seconds;
  std::sort(sorted.begin(), sorted.end());
  return {{"median", OrNull(Percentile(sorted, 50))},
          {"p25", OrNull(Percentile(sorted, 25))},
          {"p75", OrNull(Percentile(sorted, 75))},
          {"samples", seconds}};
}

Json Head(const ReportHead& head, const DeviceProperties& device) {
  const KvbenchInfo program = DescribeProgram();
  const auto text_or_null = [](const std::string& text) {
    return text.empty() ? Json(nullptr) : Json(text);
  };
  return {{"schema_version", kSchemaVersion},
          {"kind", "kvbench_gpu"},
          {"what", head.what},
          {"kvbench",
           {{"version", program.version},
            {"commit", OrNull(program.commit)},
            {"build_type", program.build_type},
            {"compiler", program.compiler},
            {"cuda_version", OrNull(program.cuda_version)}}},
          {"device",
           {{"name", device.name},
            {"multiprocessors", device.multiprocessors},
            {"memory_bytes", device.memory_bytes},
            {"l2_bytes", device.l2_bytes},
            {"compute_capability", device.compute_capability == 0
                                       ? Json(nullptr)
                                       : Json(std::to_string(device.compute_capability / 10) + "." +
                                              std::to_string(device.compute_capability % 10))},
            {"driver", text_or_null(device.driver)},
            {"clocks_before", Clocks(head.clocks_before)},
            {"clocks_after", Clocks(head.clocks_after)}}},
          {"run_info",
           {{"command", head.command},
            {"started_at", head.started_at},
            {"duration_s", head.duration_s},
            {"budget_s", OrNull(head.budget_s)},
            {"complete", head.complete}}}};
}

Json Cell(const DecodeResult& result, int64_t roof_bytes) {
  const DecodeCell& cell = result.cell;
  Json json = {{"name", cell.Name()},
               {"attention", cell.attention},
               {"num_attention_heads", cell.num_heads},
               {"num_key_value_heads", cell.num_kv_heads},
               {"head_dim", cell.head_dim},
               {"kv_cache_dtype", "float16"},
               {"layout", cell.block_size == 0 ? "contiguous" : "paged"},
               {"block_size", cell.block_size == 0 ? Json(nullptr) : Json(cell.block_size)},
               {"block_order", cell.block_size == 0 ? Json(nullptr) : Json("shuffled")},
               {"context", cell.context},
               {"batch", cell.batch},
               {"kv_bytes", cell.KvBytes()},
               {"skipped", result.measured() ? Json(nullptr) : Json(result.skipped)}};
  if (!result.measured()) {
    return json;
  }
  const double achieved = AchievedBytesPerS(result);
  const double roof = RoofBytesPerS(result, roof_bytes);
  json["kernel"] = result.kernel;
  json["seconds"] = Times(result.seconds);
  json["achieved_bytes_per_s"] = Finite(achieved);
  json["roof_seconds"] = Times(result.roof_seconds);
  json["roof_bytes_per_s"] = Finite(roof);
  json["share_of_roof"] = Finite(achieved / roof);
  json["plan_seconds"] = Times(result.plan_seconds);
  json["verification"] = {{"max_relative_error", Finite(result.error)},
                          {"tolerance", DeviceTolerance(KvType::kFp16)},
                          {"passed", result.right}};
  return json;
}

Json Targets(const std::vector<DecodeResult>& results, int64_t roof_bytes) {
  Json all = Json::array();
  for (const Target& target : JudgeTargets(results, roof_bytes)) {
    const bool judged = target.held + target.missed > 0;
    all.push_back({{"what", target.what},
                   {"unit", target.unit},
                   {target.at_least ? "at_least" : "at_most", target.bound},
                   {"held", target.held},
                   {"missed", target.missed},
                   {"worst", judged ? Finite(target.worst) : Json(nullptr)},
                   {"worst_cell", judged ? Json(target.worst_cell) : Json(nullptr)}});
  }
  return all;
}

}  // namespace

Json ConformanceReport(const ReportHead& head, const DeviceProperties& device,
                       const ConformanceResult& result) {
  Json json = Head(head, device);
  Json kernels = Json::array();
  for (const CheckedKernel& kernel : result.kernels) {
    kernels.push_back(
        {{"name", kernel.name}, {"checks", kernel.checks}, {"failed", kernel.failed}});
  }
  json["conformance"] = {{"planned", result.planned},
                         {"checks", result.checks},
                         {"passed", result.right()},
                         {"failures", result.failures},
                         {"unchecked_kernels", result.unchecked},
                         {"kernels", kernels}};
  return json;
}

Json DecodeReport(const ReportHead& head, const DeviceProperties& device,
                  const DecodeBenchOptions& options, const std::vector<DecodeResult>& results) {
  Json json = Head(head, device);
  json["method"] = {
      {"l2", "cold: another buffer is read before each repetition"},
      {"l2_flush_bytes", options.flush_bytes},
      {"clock", "events of the device around one layer's attention"},
      {"warmups", options.warmups},
      {"repetitions", options.repetitions},
      {"roof", "16-byte loads of a plain kernel, L2 cold, between the repetitions of each cell"},
      {"roof_bytes", options.roof_bytes},
      {"plan_seconds", "of the host: plan of a step and its upload; not in seconds"}};
  Json cells = Json::array();
  for (const DecodeResult& result : results) {
    cells.push_back(Cell(result, options.roof_bytes));
  }
  json["cells"] = cells;
  json["targets"] = Targets(results, options.roof_bytes);
  return json;
}

}  // namespace kvbench::gpu
