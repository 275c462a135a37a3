#include "results/record/made_on.h"

#include <fmt/format.h>

namespace kvbench {
namespace {

/// @param machine has cpu_model, cores, boot_id, gpu and the read roof
template <typename Machine>
MadeOn Describe(const Machine& machine, const std::string& started_at) {
  MadeOn made_on;
  made_on.name = machine.cpu_model.value_or("an unknown CPU");
  if (machine.cores) {
    made_on.name += fmt::format(", {} cores", *machine.cores);
  }
  if (machine.gpu) {
    made_on.name += ", " + machine.gpu->name;
  }
  const std::string day = started_at.substr(0, 10);
  made_on.name += " on " + (day.empty() ? "an unknown day" : day);
  // Machines of one kind are called the same, and are not the same.
  if (machine.boot_id) {
    made_on.name += ", boot " + *machine.boot_id;
  }
  if (const std::optional<double> roof = machine.read_roof_bytes_per_s; roof && *roof > 0) {
    made_on.roof = RunRoof{*roof, machine.read_roof_spread};
  }
  return made_on;
}

}  // namespace

MadeOn MadeOnOf(const Environment& machine, const RunInfo& when) {
  return Describe(machine, when.started_at);
}

MadeOn MadeOnOf(const RunOrigin& origin) { return Describe(origin, origin.started_at); }

}  // namespace kvbench
