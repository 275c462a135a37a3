#pragma once

#include <optional>
#include <string>
#include <vector>

#include "results/record/record.h"

namespace kvbench {

/// A modelled run beside the measured one that it predicts.
struct Prediction {
  const RunRecord* measured = nullptr;
  const RunRecord* modelled = nullptr;

  /// modelled / measured - 1; nothing where either is missing or 0.
  std::optional<double> ThroughputError() const;
  std::optional<double> TpotError() const;  ///< of the mean TPOT
};

/// Pairs the modelled runs of a file with measured ones of the same repetition that have the same
/// axes apart from the executor, its hardware and its threads. In the order of the measured runs.
std::vector<Prediction> FindPredictions(const ResultsFile& file);

/// Predicted against measured throughput and TPOT, a line each, and the median and largest error;
/// empty where nothing is predicted.
std::string RenderPredictions(const ResultsFile& file);

}  // namespace kvbench
