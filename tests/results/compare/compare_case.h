#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "results/compare/compare.h"
#include "results/record/json_writer.h"
#include "tests/results/example_results.h"

namespace kvbench {

/// Tests with results files in a folder of their own.
class CompareCase : public testing::Test {
 protected:
  using Json = nlohmann::ordered_json;

  CompareCase()
      : dir_(std::filesystem::path(testing::TempDir()) /
             (std::string("kvbench_compare_") +
              testing::UnitTest::GetInstance()->current_test_info()->name())) {
    std::filesystem::remove_all(dir_);
    std::filesystem::create_directories(dir_);
  }
  ~CompareCase() override { std::filesystem::remove_all(dir_); }

  std::string Write(const std::string& name, const std::string& text) const {
    const std::string path = (dir_ / name).string();
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }
  std::string Write(const std::string& name, const ResultsFile& file) const {
    return Write(name, ResultsJson(file));
  }
  static std::string Text(const std::filesystem::path& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }

  /// One measured run, repeated; repetition r takes factor * (1 + spread * noise(r)) as long as the
  /// example.
  static ResultsFile Repeated(int repetitions, double factor, double spread = 0.01) {
    ResultsFile file = ExampleResults();
    file.runs.clear();
    for (int r = 0; r < repetitions; ++r) {
      RunRecord run = ExampleRun("paged");
      run.repetition = r;
      const double noise = static_cast<double>(r * 7 % 11) / 5 - 1;
      run.duration *= factor * (1 + spread * noise);
      run.output_throughput = 8'262 / run.duration;
      run.request_throughput = 94 / run.duration;
      run.total_token_throughput = (3'947 + 8'262) / run.duration;
      file.runs.push_back(run);
    }
    return file;
  }

  /// The example's runs as modelled ones on a GPU.
  static ResultsFile Modelled() {
    ResultsFile file = ExampleResults();
    file.runs.resize(4);
    for (RunRecord& run : file.runs) {
      run.executor.kind = "modelled";
      run.executor.hardware = "a100-sxm4-40gb";
      run.executor.calibration = "vllm";
      run.verification.reset();
      run.phases.reset();
    }
    return file;
  }

  static ComparedFile Parsed(const ResultsFile& file, const std::string& name) {
    return ParseComparedFile(ResultsJson(file), name);
  }

  static Comparison Compare(const ResultsFile& base, const ResultsFile& next,
                            const CompareOptions& options = {}) {
    return CompareFiles(Parsed(base, "base.json"), Parsed(next, "new.json"), options);
  }

  std::filesystem::path dir_;
};

}  // namespace kvbench
