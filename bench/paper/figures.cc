#include "bench/paper/figures.h"

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

}  // namespace kvbench
