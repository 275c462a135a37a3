#include "results/table/predictions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "results/compare/statistics.h"
#include "results/record/label.h"

namespace kvbench {

namespace {

std::optional<double> Error(const std::optional<double>& modelled,
                            const std::optional<double>& measured) {
  return modelled && measured && *measured > 0 ? std::optional(*modelled / *measured - 1)
                                               : std::nullopt;
}

/// The axes that a prediction shares with what it predicts, and the repetition.
std::string PairKey(const RunRecord& run) {
  static constexpr const char* kOfTheExecutor[] = {"executor", "hardware", "calibration",
                                                   "tensor-parallel-size", "threads"};
  std::string key = std::to_string(run.repetition);
  for (const Axis& axis : RunAxes(run)) {
    if (std::find(std::begin(kOfTheExecutor), std::end(kOfTheExecutor), axis.name) ==
        std::end(kOfTheExecutor)) {
      key += " " + axis.name + "=" + axis.value;
    }
  }
  return key;
}

std::string PercentText(const std::optional<double>& error) {
  return error ? fmt::format("{:+.1f} %", 100 * *error) : "-";
}

std::string Value(const std::optional<double>& value, int decimals) {
  return value ? fmt::format("{:.{}f}", *value, decimals) : "-";
}

std::string Summary(const char* what, std::vector<double> errors) {
  if (errors.empty()) {
    return "";
  }
  for (double& error : errors) {
    error = std::abs(error);
  }
  return fmt::format("{}: median error {:.1f} %, largest {:.1f} %\n", what, 100 * *Median(errors),
                     100 * *std::max_element(errors.begin(), errors.end()));
}

}  // namespace

std::optional<double> Prediction::ThroughputError() const {
  return Error(modelled->output_throughput, measured->output_throughput);
}

std::optional<double> Prediction::TpotError() const {
  return Error(modelled->tpot.mean, measured->tpot.mean);
}

std::vector<Prediction> FindPredictions(const ResultsFile& file) {
  std::vector<Prediction> predictions;
  for (const RunRecord& measured : file.runs) {
    for (const RunRecord& modelled : file.runs) {
      if (measured.executor.kind != "modelled" && modelled.executor.kind == "modelled" &&
          (measured.executor.kind == "cpu" || !modelled.executor.roofs) &&
          PairKey(measured) == PairKey(modelled)) {
        predictions.push_back({&measured, &modelled});
      }
    }
  }
  return predictions;
}

std::string RenderPredictions(const ResultsFile& file) {
  const std::vector<Prediction> predictions = FindPredictions(file);
  if (predictions.empty()) {
    return "";
  }
  std::string text =
      "\n== Predicted by the step-time model against measured ==\n"
      "                                      output tokens/s            mean TPOT, ms\n"
      "model       design                measured  predicted   error  measured  predicted   error\n"
      "-----------------------------------------------------------------------------------------\n";
  std::vector<double> throughput;
  std::vector<double> tpot;
  for (const Prediction& p : predictions) {
    text +=
        fmt::format("{:<11} {:<20} {:>9} {:>10} {:>7} {:>9} {:>10} {:>7}\n", p.measured->model.name,
                    DesignText(p.measured->design), Value(p.measured->output_throughput, 1),
                    Value(p.modelled->output_throughput, 1), PercentText(p.ThroughputError()),
                    Value(p.measured->tpot.mean, 2), Value(p.modelled->tpot.mean, 2),
                    PercentText(p.TpotError()));
    if (p.ThroughputError()) {
      throughput.push_back(*p.ThroughputError());
    }
    if (p.TpotError()) {
      tpot.push_back(*p.TpotError());
    }
  }
  return text + "\n" + Summary("output throughput", throughput) + Summary("mean TPOT", tpot);
}

}  // namespace kvbench
