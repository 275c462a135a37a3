#include "bench/run/run_spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "base/error.h"
#include "base/units.h"
#include "workloads/embedded_data.h"

namespace kvbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

template <typename F>
std::string SentenceOf(F&& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(UnitsTest, SizesAndTimes) {
  EXPECT_EQ(ParseBytes("12GiB"), int64_t{12} << 30);
  EXPECT_EQ(ParseBytes("30.75MiB"), 3936 * 8192);
  EXPECT_EQ(ParseBytes("1.5GB"), 1'500'000'000);
  EXPECT_EQ(ParseBytes("4096"), 4096);
  EXPECT_EQ(ParsePicoseconds("500ms"), 500'000'000'000);
  EXPECT_EQ(ParsePicoseconds("2min"), 120'000'000'000'000);
  EXPECT_EQ(ParsePicoseconds("3"), 3'000'000'000'000);
  for (const char* bad :
       {"", "GiB", "12 GiB", "-1GiB", "nan", "inf", "1e300", "12gib", "0x10", "1e999"}) {
    EXPECT_THROW(ParseBytes(bad), Error) << bad;
  }
  for (const char* bad : {"", "ms", "-1s", "101h5", "3000h", "5 s"}) {
    EXPECT_THROW(ParsePicoseconds(bad), Error) << bad;
  }
  EXPECT_THROW(ParseInteger("99999999999999999999", 0), Error);
  EXPECT_THROW(ParseInteger("-1", 0), Error);
  EXPECT_THROW(ParseInteger("1.5", 0), Error);
}

TEST(RunSpecTest, RangesAndLists) {
  EXPECT_THAT(ExpandValues({"1..4+0.5"}), ElementsAre("1", "1.5", "2", "2.5", "3", "3.5", "4"));
  EXPECT_THAT(ExpandValues({"1..256*4"}), ElementsAre("1", "4", "16", "64", "256"));
  EXPECT_THAT(ExpandValues({"0.1..0.3+0.1"}), ElementsAre("0.1", "0.2", "0.3"));
  EXPECT_THAT(ExpandValues({"paged", "16"}), ElementsAre("paged", "16"));
  for (const char* bad : {"1..4+0", "1..4+-1", "0..4*2", "1..4*1", "a..b+1", "1..1e9+1"}) {
    EXPECT_THROW(ExpandValues({bad}), Error) << bad;
  }
}

TEST(RunSpecTest, BlockSizeIsAnAxisOfPagedDesignsOnly) {
  const std::vector<RunSpec> runs = ExpandRuns({{"design", {"contiguous-max", "paged"}},
                                                {"block-size", {"4", "16"}},
                                                {"model", {"a", "b"}}});
  ASSERT_EQ(runs.size(), 6U);
  EXPECT_EQ(runs[0].model, "a");
  EXPECT_EQ(runs[0].design, "contiguous-max");
  EXPECT_EQ(runs[1].block_size, 4);
  EXPECT_EQ(runs[2].block_size, 16);
  EXPECT_EQ(runs[3].model, "b");
}

TEST(RunSpecTest, EveryFieldRefusesNonsenseWithItsName) {
  const std::map<std::string, std::string> nonsense = {{"design", "pagd"},
                                                       {"block-size", "12"},
                                                       {"block-size", "512"},
                                                       {"kv-cache-dtype", "f17"},
                                                       {"kv-memory", "much"},
                                                       {"max-model-len", "0"},
                                                       {"max-num-seqs", "-3"},
                                                       {"scheduler", "greedy"},
                                                       {"chunked-prefill", "maybe"},
                                                       {"rate", "0"},
                                                       {"rate", "nan"},
                                                       {"requests", "1e3"},
                                                       {"seed", "-1"},
                                                       {"executor", "tpu"},
                                                       {"threads", "two"},
                                                       {"dense", "1"},
                                                       {"attention-kernel", "fast"},
                                                       {"window", "10s"},
                                                       {"window", "10s..5s"},
                                                       {"limit", "x"},
                                                       {"max-concurrency", "-1"},
                                                       {"max-num-batched-tokens", "99999999999"}};
  for (const auto& [name, value] : nonsense) {
    const std::string sentence = SentenceOf([&] { ExpandRuns({{name, {value}}}); });
    EXPECT_THAT(sentence, testing::StartsWith("--" + name + ": ")) << value;
  }
}

TEST(RunSpecTest, QuickSuiteIsTheTwelveRunsOfTheTwin) {
  const Suite suite = LoadSuite("quick");
  EXPECT_EQ(suite.name, "quick");
  const std::vector<RunSpec> runs = ExpandRuns(suite.axes);
  ASSERT_EQ(runs.size(), 12U);
  EXPECT_EQ(runs[0].kv_memory / (4 * 2 * 8 * 64 * 2), 3936);
  EXPECT_EQ(runs[11].model, "twin-mqa");
  EXPECT_EQ(runs[11].design, "paged");
  EXPECT_EQ(runs[0].limits.max_model_len, 512);
}

TEST(SuiteTest, BadFilesAreASentence) {
  const auto load = [](const std::string& text) {
    const std::string path = testing::TempDir() + "/suite.json";
    std::ofstream(path) << text;
    return SentenceOf([&] { LoadSuite(path); });
  };
  EXPECT_THAT(load("{\n\"design\": [\n"), HasSubstr("line 3: not valid JSON"));
  EXPECT_THAT(load("[1]"), HasSubstr("expected a JSON object"));
  EXPECT_THAT(load("{\"blocksize\": 16}"),
              HasSubstr("key 'blocksize': there is no such parameter"));
  EXPECT_THAT(load("{\"design\": []}"), HasSubstr("empty list"));
  EXPECT_THAT(load("{\"design\": {\"a\": 1}}"), HasSubstr("expected a string"));
  EXPECT_THAT(load("{\"design\": null}"), HasSubstr("expected a string"));
  EXPECT_THAT(SentenceOf([] { LoadSuite("no-such-suite"); }),
              HasSubstr("built-in suites are ci, paper/fig12, "));
  EXPECT_THAT(load("{\"dense\": false, \"block-size\": [4, 8]}"), testing::Eq("no error"));
}

}  // namespace
}  // namespace kvbench
