#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <ostream>

#include "bench/gpu/report.h"
#include "kernels/cuda/device.h"
#include "kernels/cuda/kernel_table.h"

namespace kvbench::gpu {

/// What kvbench_gpu runs on.
struct Machine {
  /// The device; throws Error of kind kMachine where there is none.
  std::function<std::unique_ptr<Device>()> open;
  /// Its kernels: conformance looks for each of them.
  std::function<KernelTable()> kernels;
  /// Clocks now, where somebody tells.
  std::function<std::optional<GpuClocks>()> clocks;
};

/// kvbench_gpu: parses the command line, runs, prints tables to `out` and progress to `err`.
/// @return 0 done, 1 a kernel is wrong, 2 bad arguments, 3 the machine cannot do it, 130
/// interrupted. A run that its budget cut is done: its file says that it is not complete.
int RunProgram(int argc, const char* const* argv, const Machine& machine, std::ostream& out,
               std::ostream& err);

}  // namespace kvbench::gpu
