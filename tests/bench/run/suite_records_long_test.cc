// What the built-in suites write is valid: a run of each scheduler, design and executor of each
// suite, with few requests.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "bench/output/interrupt.h"
#include "bench/run/run_all.h"
#include "results/record/field.h"
#include "results/record/json_writer.h"
#include "workloads/embedded_data.h"

namespace kvbench {
namespace {

/// A set of a suite made short. Searches stay searches, windows stay windows.
AxisValues Shortened(AxisValues axes) {
  axes["seed"] = {"0"};
  axes["threads"] = {"1"};
  axes["rate-tolerance"] = {"0.5"};
  if (axes.contains("duration")) {
    axes["duration"] = {"60s"};
  } else {
    axes["requests"] = {"3"};
  }
  if (axes.contains("window")) {
    axes["window"] = {"1s..60s"};
  }
  return axes;
}

/// One of each cell that schema and writer could tell apart.
std::vector<RunSpec> OneOfEachCell(const std::string& suite) {
  std::vector<RunSpec> specs;
  std::set<std::string> cells;
  for (const AxisValues& axes : LoadSuite(suite).Sets()) {
    for (RunSpec& spec : ExpandRuns(Shortened(axes))) {
      const std::string cell = spec.executor + " " + spec.design + " " +
                               std::to_string(int(spec.limits.scheduler)) + " " +
                               std::to_string(int(spec.find_rate.kind));
      if (cells.insert(cell).second) {
        specs.push_back(std::move(spec));
      }
    }
  }
  return specs;
}

/// What other executors than this run's fill is not there.
void ExpectFilledByItsExecutor(const Description& object, const nlohmann::ordered_json& json,
                               bool modelled) {
  for (const Field& field : object.fields()) {
    if (field.options.flat || field.options.streamed || !json.contains(field.key)) {
      continue;
    }
    const nlohmann::ordered_json& value = json[field.key];
    if (field.options.filled_by == (modelled ? FilledBy::kMeasured : FilledBy::kModelled)) {
      EXPECT_TRUE(value.is_null()) << field.key;
    } else if (value.is_object()) {
      ExpectFilledByItsExecutor(*field.object(), value, modelled);
    }
  }
}

TEST(SuiteRecords, OfEveryBuiltInSuiteAreValid) {
  const std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) / ("kvbench_suites_" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  std::string paths;
  std::set<std::string> schedulers;
  const InterruptGuard interrupt;
  for (const std::string& suite : SuiteNames()) {
    ResultsFile file;
    file.kvbench = {"0.1.0", std::nullopt, "Debug", "GNU 12.2.0", std::nullopt};
    file.run_info = {"kvbench run " + suite, suite, "2025-01-31T12:00:00Z", 1, true};
    std::vector<PlannedRun> runs = PlanRuns(OneOfEachCell(suite));
    for (DoneRun& done : RunAll(runs, {}, interrupt)) {
      ASSERT_TRUE(done.record) << suite;
      EXPECT_GT(done.record->steps, 0) << done.record->label;
      schedulers.insert(done.record->limits.scheduler);
      ExpectFilledByItsExecutor(RunRecord::Describe(), RunJson(*done.record),
                                done.record->executor.kind == "modelled");
      file.runs.push_back(std::move(*done.record));
    }
    std::string name = suite;
    std::replace(name.begin(), name.end(), '/', '_');
    const std::filesystem::path path = folder / (name + ".json");
    std::ofstream(path) << ResultsJson(file);
    paths += " '" + path.string() + "'";
  }
  EXPECT_THAT(schedulers,
              testing::UnorderedElementsAre("continuous", "static", "faster-transformer"));
  if (!std::string(KVBENCH_PYTHON).empty()) {
    const std::string command = std::string(KVBENCH_PYTHON) + " '" + KVBENCH_SOURCE_DIR +
                                "/tools/validate_results'" + paths + " >&2";
    EXPECT_EQ(std::system(command.c_str()), 0) << "see the lines above";
  }
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace kvbench
