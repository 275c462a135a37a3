#include "bench/machine/info_cache.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <functional>
#include <sstream>

#include "base/error.h"

namespace kvbench {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kThen = 1'800'000'000;

class InfoCacheTest : public testing::Test {
 protected:
  void TearDown() override { fs::remove_all(folder_); }

  static InfoReport Report() {
    InfoReport report;
    report.program.commit = "abc";
    report.program.build_type = "Release";
    report.environment.cpu_model = "a CPU";
    report.now_s = kThen;
    MeasuredInfo& measured = report.measured.emplace();
    measured.model.name = "some-model";
    measured.model.head_dim = 64;
    measured.kv_cache_dtype = Dtype::kBf16;
    measured.measured_at_s = kThen;
    measured.load_average_1min = 0.25;
    measured.read = {{1, 8e9}, {2, 1e10 / 3}};
    CpuRoofs& roofs = measured.roofs;
    roofs.threads = 2;
    roofs.read_bytes_per_s = 10e9;
    roofs.read_spread = 0.034;
    roofs.dense = {{1, 0.5e-9}, {64, 4e-9}};
    roofs.elementwise = {{1, 1e-9}};
    roofs.decode = {{0, 32e-9, 7e-9}, {16, 64e-9, 0}};
    roofs.prefill = {{16, 25.6e-9}};
    roofs.kv_write_bytes_per_s = 3e9;
    roofs.dispatch_s = 1.5e-6;
    return report;
  }

  /// What is asked for: the same without figures.
  std::optional<MeasuredInfo> Find(const InfoReport& report, int64_t now_s) const {
    MeasuredInfo wanted;
    wanted.model = report.measured->model;
    wanted.kv_cache_dtype = report.measured->kv_cache_dtype;
    wanted.roofs.threads = report.measured->roofs.threads;
    return InfoCache(file_).Find(report, wanted, now_s);
  }

  fs::path folder_ = fs::path(testing::TempDir()) / ("info_cache_test." + std::to_string(getpid()));
  fs::path file_ = folder_ / "deep" / "info.json";
};

TEST_F(InfoCacheTest, FindsWhatWasKept) {
  const InfoReport report = Report();
  EXPECT_FALSE(Find(report, kThen));
  InfoCache(file_).Keep(report);
  const std::optional<MeasuredInfo> found = Find(report, kThen + 3 * 3600);
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->from_cache);
  EXPECT_EQ(found->measured_at_s, kThen);
  InfoReport cached = report;
  cached.measured = found;
  cached.measured->from_cache = false;
  EXPECT_EQ(InfoJson(cached), InfoJson(report));
}

TEST_F(InfoCacheTest, ADayIsTooOld) {
  InfoCache(file_).Keep(Report());
  EXPECT_TRUE(Find(Report(), kThen + InfoCache::kMaxAgeSeconds));
  EXPECT_FALSE(Find(Report(), kThen + InfoCache::kMaxAgeSeconds + 1));
  EXPECT_FALSE(Find(Report(), kThen - 1));  // the clock was put back
}

TEST_F(InfoCacheTest, AnotherMachineProgramOrQuestionFindsNothing) {
  InfoCache(file_).Keep(Report());
  const std::function<void(InfoReport&)> changes[] = {
      [](InfoReport& r) { r.environment.cpu_model = "another CPU"; },
      [](InfoReport& r) { r.environment.cpu_isa = "AVX2"; },
      [](InfoReport& r) { r.program.commit = "abd"; },
      [](InfoReport& r) { r.program.build_type = "Debug"; },
      [](InfoReport& r) { r.measured->roofs.threads = 1; },
      [](InfoReport& r) { r.measured->kv_cache_dtype = Dtype::kFp16; },
      [](InfoReport& r) { r.measured->model.head_dim = 128; },
  };
  for (const auto& change : changes) {
    InfoReport report = Report();
    change(report);
    EXPECT_FALSE(Find(report, kThen));
    InfoCache(file_).Keep(report);
    EXPECT_TRUE(Find(report, kThen));
    EXPECT_TRUE(Find(Report(), kThen));  // both are kept
  }
}

TEST_F(InfoCacheTest, ChangedSourcesKeepNothing) {
  InfoReport report = Report();
  report.program.commit = "abc-dirty";
  InfoCache(file_).Keep(report);
  EXPECT_FALSE(fs::exists(file_));
  report.program.commit = std::nullopt;
  InfoCache(file_).Keep(report);
  EXPECT_FALSE(fs::exists(file_));
  InfoCache("").Keep(Report());
}

TEST_F(InfoCacheTest, AFileThatIsSomethingElseIsReplaced) {
  InfoCache(file_).Keep(Report());
  std::ifstream stream(file_);
  std::ostringstream text;
  text << stream.rdbuf();
  std::string without_prefill = text.str();
  without_prefill.replace(without_prefill.find("\"prefill\""), 9, "\"profile\"");
  for (const std::string& bad : {std::string(), std::string("{"), std::string("[1]"),
                                 std::string(R"({"format": 2, "entries": []})"),
                                 std::string(R"({"format": 1, "entries": [3, {"kind": 1}]})"),
                                 text.str().substr(0, text.str().size() / 2), without_prefill}) {
    std::ofstream(file_) << bad;
    EXPECT_FALSE(Find(Report(), kThen)) << bad;
    InfoCache(file_).Keep(Report());
    EXPECT_TRUE(Find(Report(), kThen)) << bad;
  }
}

TEST_F(InfoCacheTest, AFolderThatCannotBeMadeIsASentence) {
  fs::create_directories(folder_);
  std::ofstream(folder_ / "file") << "x";
  EXPECT_THROW(InfoCache(folder_ / "file" / "info.json").Keep(Report()), Error);
}

TEST_F(InfoCacheTest, FollowsTheEnvironment) {
  setenv("XDG_CACHE_HOME", "/some/where", 1);
  EXPECT_EQ(InfoCache::DefaultFile(), "/some/where/kvbench/info.json");
  setenv("XDG_CACHE_HOME", "relative", 1);
  setenv("HOME", "/home/x", 1);
  EXPECT_EQ(InfoCache::DefaultFile(), "/home/x/.cache/kvbench/info.json");
  unsetenv("HOME");
  EXPECT_EQ(InfoCache::DefaultFile(), "");
}

}  // namespace
}  // namespace kvbench
