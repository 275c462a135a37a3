#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/statistics.h"
#include "base/text.h"
#include "bench/gpu/report.h"
#include "bench/gpu/targets.h"
#include "bench/output/text_table.h"

namespace kvbench::gpu {

namespace {

using Align = TextTable::Align;

std::string Microseconds(double seconds) { return fmt::format("{:.1f}", 1e6 * seconds); }
std::string Percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

double MedianOf(const std::vector<double>& seconds) { return Median(seconds).value_or(0); }

std::string Quartiles(std::vector<double> seconds) {
  std::sort(seconds.begin(), seconds.end());
  return Microseconds(*Percentile(seconds, 25)) + " .. " + Microseconds(*Percentile(seconds, 75));
}

std::string TargetLines(const std::vector<DecodeResult>& results, int64_t roof_bytes) {
  std::string text;
  for (const Target& target : JudgeTargets(results, roof_bytes)) {
    if (target.held + target.missed == 0) {
      text += fmt::format("Target: {}: no such cell\n", target.what);
      continue;
    }
    text += fmt::format("Target: {}: {} of {} cells\n        worst {:.3f} {}: {}\n", target.what,
                        target.held, target.held + target.missed, target.worst, target.unit,
                        target.worst_cell);
  }
  return text;
}

}  // namespace

std::string DecodeLine(const DecodeResult& result, int64_t roof_bytes) {
  if (!result.measured()) {
    return result.cell.Name() + ": skipped: " + result.skipped;
  }
  const double achieved = AchievedBytesPerS(result);
  return fmt::format("{}: {} us, {} GB/s, {} of the roof{}", result.cell.Name(),
                     Microseconds(MedianOf(result.seconds)), Thousands(achieved / 1e9, 0),
                     Percent(achieved / RoofBytesPerS(result, roof_bytes)),
                     result.right ? "" : ", WRONG");
}

std::string ConformanceTable(const ConformanceResult& result) {
  std::string text;
  for (const std::string& failure : result.failures) {
    text += "WRONG: " + Wrap(failure, 92, 7) + "\n";
  }
  for (const std::string& name : result.unchecked) {
    text += "No check launches " + name + "\n";
  }
  text += fmt::format("Conformance: {} of {} checks, {} kernels, {} failures\n", result.checks,
                      result.planned, result.kernels.size(), result.failures.size());
  return text;
}

std::string DecodeTable(const std::vector<DecodeResult>& results, int64_t roof_bytes) {
  TextTable table({Align::kLeft, Align::kRight, Align::kRight, Align::kRight, Align::kRight,
                   Align::kRight, Align::kRight, Align::kLeft});
  table.Add({"cell", "KV", "median us", "quartiles", "GB/s", "of roof", "plan us", ""});
  int64_t skipped = 0;
  for (const DecodeResult& result : results) {
    const std::string kv = Bytes(result.cell.KvBytes());
    if (!result.measured()) {
      ++skipped;
      table.Add({result.cell.Name(), kv, "skipped", "-", "-", "-", "-", ""});
      continue;
    }
    const double achieved = AchievedBytesPerS(result);
    table.Add({result.cell.Name(), kv, Microseconds(MedianOf(result.seconds)),
               Quartiles(result.seconds), Thousands(achieved / 1e9, 0),
               Percent(achieved / RoofBytesPerS(result, roof_bytes)),
               Microseconds(MedianOf(result.plan_seconds)), result.right ? "" : "WRONG"});
  }
  std::string text = table.Text();
  if (skipped > 0) {
    text += fmt::format("{} cells are skipped: their KV does not fit the device\n", skipped);
  }
  return text + TargetLines(results, roof_bytes);
}

std::string Fig18aTable(const std::vector<DecodeResult>& results) {
  TextTable table({Align::kRight, Align::kRight, Align::kRight, Align::kRight, Align::kRight,
                   Align::kRight, Align::kRight, Align::kRight});
  table.Add({"context", "batch", "vllm_v1", "vllm_v1 paged", "ours", "ours paged", "v1 paged/v1",
             "v1 paged/ours"});
  // Four cells a line, in the order of Fig18aGrid.
  for (size_t i = 0; i + 3 < results.size(); i += 4) {
    std::array<double, 4> seconds;
    std::vector<std::string> row = {std::to_string(results[i].cell.context),
                                    std::to_string(results[i].cell.batch)};
    for (size_t j = 0; j < 4; ++j) {
      seconds[j] = MedianOf(results[i + j].seconds);
      row.push_back(results[i + j].measured() ? Microseconds(seconds[j]) : "skipped");
    }
    row.push_back(fmt::format("{:.3f}", seconds[1] / seconds[0]));
    row.push_back(fmt::format("{:.3f}", seconds[1] / seconds[2]));
    table.Add(row);
  }
  const int32_t heads = results.empty() ? 0 : results[0].cell.num_heads;
  return fmt::format("Decode attention of one layer, {} heads, fp16, microseconds, L2 cold\n{}",
                     heads, table.Text()) +
         "The paper: paged attention takes 20 to 26 % longer than FasterTransformer's kernel\n";
}

}  // namespace kvbench::gpu
