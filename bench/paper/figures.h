#pragma once

#include <string_view>
#include <vector>

#include "bench/paper/row.h"
#include "bench/paper/runner.h"

namespace kvbench {

/// One figure or table: what it measures for the rows of its section in
/// results/reference/paper.json.
struct PaperFigure {
  std::string_view key;  ///< on the command line
  std::string_view summary;
  PaperValues (*measure)(PaperRunner&);
};

/// All of them, in the order in which they are shown.
const std::vector<PaperFigure>& PaperFigures();

/// Number and sizes of blocks, by the memory plan alone.
PaperValues MeasureTable1(PaperRunner&);
/// Where the KV memory goes, by the paper's definitions, percent.
PaperValues MeasureFig2(PaperRunner& runner);
/// Request rates at a normalized latency of 0.5 s a token, and their ratios of the same seed.
PaperValues MeasureFig12(PaperRunner& runner);
/// Requests that run, mean over steps.
PaperValues MeasureFig13(PaperRunner& runner);
/// Percent of the KV memory that holds tokens, and last-block waste, by block size.
PaperValues MeasureFig18b(PaperRunner& runner);
/// Requests that run and percent of the KV memory that holds tokens, by KV heads.
PaperValues MeasureHeads(PaperRunner& runner);
/// What the paper, vLLM's blog post and the papers on GQA say in words.
PaperValues MeasureClaims(PaperRunner& runner);

/// Measures a figure and puts it beside the paper.
PaperSection MeasureSection(const PaperFigure& figure, PaperRunner& runner);

}  // namespace kvbench
