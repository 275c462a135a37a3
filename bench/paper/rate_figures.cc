// Figure 12: the figures that are request rates.
#include <fmt/format.h>

#include "bench/paper/figures.h"

namespace kvbench {

PaperValues MeasureFig12(PaperRunner& runner) {
  PaperValues samples;
  std::map<std::string, std::vector<double>> paged;  // by model
  const std::vector<PaperRun>& runs = runner.Suite("paper/fig12");
  for (const PaperRun& run : runs) {
    const double rate = run.record.trace.request_rate.value();
    samples[fmt::format("{}, {}", run.spec.model, run.spec.design)].push_back(rate);
    if (run.spec.design == "paged") {
      paged[run.spec.model].push_back(rate);
    }
  }
  for (const auto& [model, rates] : paged) {
    for (const char* design : {"contiguous-oracle", "contiguous-max"}) {
      const std::vector<double>& others = samples.at(fmt::format("{}, {}", model, design));
      for (size_t seed = 0; seed < rates.size(); ++seed) {
        samples[fmt::format("{}, paged / {}", model, design)].push_back(rates[seed] /
                                                                        others.at(seed));
      }
    }
  }
  return samples;
}

}  // namespace kvbench
