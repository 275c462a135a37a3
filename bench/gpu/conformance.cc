#include "bench/gpu/conformance.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <exception>
#include <map>
#include <set>

#include "kernels/checks/forwarding_device.h"

namespace kvbench::gpu {

namespace {

/// Remembers what was launched. A grid without CTAs is no launch.
class LaunchRecorder final : public ForwardingDevice {
 public:
  using ForwardingDevice::ForwardingDevice;

  void Launch(const Kernel& kernel, const LaunchShape& shape, const void* params) override {
    if (shape.grid[0] > 0 && shape.grid[1] > 0 && shape.grid[2] > 0) {
      names.insert(kernel.name);
    }
    ForwardingDevice::Launch(kernel, shape, params);
  }

  std::set<std::string> names;
};

}  // namespace

ConformanceResult RunConformance(Device& device, const KernelTable& table,
                                 const std::vector<KernelCheck>& checks, TimeBudget& budget,
                                 const std::function<void(const ConformanceResult&)>& progress) {
  ConformanceResult result;
  result.planned = static_cast<int64_t>(checks.size());
  LaunchRecorder recorder(device);
  std::map<std::string, CheckedKernel> kernels;
  bool broken = false;
  for (const KernelCheck& check : checks) {
    if (broken || !budget.Next()) {
      break;
    }
    recorder.names.clear();
    std::string wrong;
    try {
      const double error = check.error(recorder);
      if (!(error <= check.tolerance)) {
        wrong = fmt::format("error {:.3g}, at most {:.3g} is right", error, check.tolerance);
      }
    } catch (const std::exception& error) {
      wrong = error.what();
      broken = true;
    }
    ++result.checks;
    for (const std::string& name : recorder.names) {
      CheckedKernel& kernel = kernels[name];
      kernel.name = name;
      ++kernel.checks;
      kernel.failed += wrong.empty() ? 0 : 1;
    }
    if (!wrong.empty()) {
      result.failures.push_back(
          fmt::format("{}: {} ({})", fmt::join(recorder.names, ", "), wrong, check.what));
    }
    progress(result);
  }
  for (const auto& [name, kernel] : kernels) {
    result.kernels.push_back(kernel);
  }
  for (const Kernel& kernel : table.all()) {
    if (!broken && !budget.cut() && !kernels.contains(kernel.name)) {
      result.unchecked.push_back(kernel.name);
    }
  }
  return result;
}

}  // namespace kvbench::gpu
