#include "bench/paper/figures.h"

#include <fmt/format.h>

#include <string>

namespace kvbench {

const std::vector<PaperFigure>& PaperFigures() {
  static const std::vector<PaperFigure> kFigures = {
      {"claims", "what is said in words: sizes, waste, throughput", &MeasureClaims},
      {"table1", "KV memory of OPT-13B, 66B and 175B", &MeasureTable1},
      {"fig2", "where the KV memory goes", &MeasureFig2},
      {"fig12", "request rates at the same latency", &MeasureFig12},
      {"fig13", "requests that run at one time", &MeasureFig13},
      {"fig18b", "block sizes, the memory's part", &MeasureFig18b},
      {"heads", "the same with 40, 8 and one KV head", &MeasureHeads},
  };
  return kFigures;
}

PaperSection MeasureSection(const PaperFigure& figure, PaperRunner& runner) {
  return BuildSection(std::string(figure.key), figure.measure(runner));
}

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
