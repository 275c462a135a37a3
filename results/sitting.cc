#include "results/sitting.h"

#include <fmt/format.h>

namespace kvbench {
namespace {

/// @param machine has cpu_model, cores, boot_id, gpu and the read roof
template <typename Machine>
RunSitting Sitting(const Machine& machine, const std::string& started_at) {
  RunSitting sitting;
  sitting.name = machine.cpu_model.value_or("an unknown CPU");
  if (machine.cores) {
    sitting.name += fmt::format(", {} cores", *machine.cores);
  }
  if (machine.gpu) {
    sitting.name += ", " + machine.gpu->name;
  }
  const std::string day = started_at.substr(0, 10);
  sitting.name += " on " + (day.empty() ? "an unknown day" : day);
  // Machines of one kind are called the same, and are not the same.
  if (machine.boot_id) {
    sitting.name += ", boot " + *machine.boot_id;
  }
  if (const std::optional<double> roof = machine.read_roof_bytes_per_s; roof && *roof > 0) {
    sitting.roof = RunRoof{*roof, machine.read_roof_spread};
  }
  return sitting;
}

}  // namespace

RunSitting SittingOf(const Environment& machine, const RunInfo& when) {
  return Sitting(machine, when.started_at);
}

RunSitting SittingOf(const RunOrigin& origin) { return Sitting(origin, origin.started_at); }

}  // namespace kvbench
