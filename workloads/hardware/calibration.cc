#include "workloads/hardware/calibration.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/quoting.h"
#include "workloads/embedded_data.h"

namespace kvbench {

namespace {

using Json = nlohmann::json;

const Json& Entries() {
  static const Json kFile = Json::parse(EmbeddedData("data/calibrations.json"));
  return kFile.at("calibrations");
}

/// `key`_per_s as it stands, or `key without unit`_efficiency of the peak.
double Rate(const Json& entry, const std::string& what, const std::string& unit, double peak) {
  if (const auto rate = entry.find(what + "_" + unit + "_per_s"); rate != entry.end()) {
    return rate->get<double>();
  }
  return entry.value(what + "_efficiency", 0.0) * peak;
}

Calibration Resolve(const Json& entry, const Hardware& hardware) {
  const double bandwidth = hardware.memory_bandwidth_bytes_per_s;
  Calibration c;
  c.name = entry.at("name");
  c.source = entry.at("source");
  c.weight_read_bytes_per_s = Rate(entry, "weight_read", "bytes", bandwidth);
  c.kv_read_bytes_per_s = Rate(entry, "kv_read", "bytes", bandwidth);
  c.kv_write_bytes_per_s = Rate(entry, "kv_write", "bytes", bandwidth);
  c.dense_flops_per_s = Rate(entry, "dense", "flops", hardware.dense_flops_per_s);
  c.attention_flops_per_s = Rate(entry, "attention", "flops", hardware.dense_flops_per_s);
  c.link_bytes_per_s = Rate(entry, "link", "bytes", hardware.link_bytes_per_s);
  c.all_reduce_latency_s = entry.value("all_reduce_latency_s", 0.0);
  c.step_overhead_s = entry.value("step_overhead_s", 0.0);
  c.sequence_overhead_s = entry.value("sequence_overhead_s", 0.0);
  if (const auto overheads = entry.find("tensor_parallel_overhead_s"); overheads != entry.end()) {
    for (const auto& [degree, seconds] : overheads->items()) {
      c.tensor_parallel_overhead_s[std::stoll(degree)] = seconds;
    }
  }
  return c;
}

}  // namespace

double Calibration::TensorParallelOverhead(int64_t degree) const {
  if (degree <= 1 || tensor_parallel_overhead_s.empty()) {
    return 0;
  }
  const auto found = tensor_parallel_overhead_s.lower_bound(degree);
  return found != tensor_parallel_overhead_s.end() ? found->second
                                                   : tensor_parallel_overhead_s.rbegin()->second;
}

Calibration LoadCalibration(std::string_view name, const Hardware& hardware) {
  std::string wanted(name);
  if (wanted.empty()) {
    wanted = "roofline";
    for (const Json& entry : Entries()) {
      const Json& machines = entry.at("hardware");
      if (std::find(machines.begin(), machines.end(), hardware.name) != machines.end()) {
        wanted = entry.at("name");
      }
    }
  }
  for (const Json& entry : Entries()) {
    if (entry.at("name") == wanted) {
      return Resolve(entry, hardware);
    }
  }
  std::string names;
  for (const std::string& known : CalibrationNames()) {
    names += (names.empty() ? "" : ", ") + known;
  }
  throw Error(fmt::format("there is no calibration {}; choose one of {}", Quoted(wanted), names));
}

std::vector<std::string> CalibrationNames() {
  std::vector<std::string> names;
  for (const Json& entry : Entries()) {
    names.push_back(entry.at("name"));
  }
  return names;
}

}  // namespace kvbench
