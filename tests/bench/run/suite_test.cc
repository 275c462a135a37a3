// Suites that hold sets of runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/run/run_plan.h"
#include "bench/run/run_spec.h"
#include "tests/workloads/testing.h"
#include "workloads/embedded_data.h"

namespace kvbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(SuiteRunsTest, ASetOverlaysTheSuite) {
  const Suite suite = ParseSuite(
      R"({"seed": "0..2+1", "max-num-seqs": 64, "runs": [
          {"design": ["contiguous-max", "contiguous-pow2"], "max-num-seqs": 256},
          {"design": "paged", "block-size": [8, 16]},
          {}]})",
      "mine");
  EXPECT_EQ(suite.name, "mine");
  const std::vector<AxisValues> sets = suite.Sets();
  ASSERT_EQ(sets.size(), 3U);
  EXPECT_THAT(sets[0].at("max-num-seqs"), ElementsAre("256"));
  EXPECT_THAT(sets[0].at("seed"), ElementsAre("0", "1", "2"));
  EXPECT_THAT(sets[1].at("max-num-seqs"), ElementsAre("64"));
  EXPECT_FALSE(sets[2].contains("design"));
  EXPECT_EQ(ExpandRuns(sets[0]).size(), 6U);
  EXPECT_EQ(ExpandRuns(sets[1]).size(), 6U);
}

TEST(SuiteRunsTest, WithoutSetsItIsOne) {
  const Suite suite = ParseSuite(R"({"design": "paged"})", "mine");
  ASSERT_EQ(suite.Sets().size(), 1U);
  EXPECT_EQ(suite.Sets()[0], suite.axes);
}

TEST(SuiteRunsTest, MistakesNameTheSet) {
  const auto sentence = [](const std::string& text) {
    return SentenceOf([&] { ParseSuite(text, "mine"); });
  };
  EXPECT_THAT(sentence(R"({"runs": {}})"), HasSubstr("'mine', key 'runs': expected a list"));
  EXPECT_THAT(sentence(R"({"runs": []})"), HasSubstr("expected a list of objects"));
  EXPECT_THAT(sentence(R"({"runs": [{}, 3]})"), HasSubstr("set 2: expected an object"));
  EXPECT_THAT(sentence(R"({"runs": [{"blocksize": 16}]})"),
              HasSubstr("set 1, key 'blocksize': there is no such parameter"));
  EXPECT_THAT(sentence(R"({"runs": [{"runs": []}]})"), HasSubstr("there is no such parameter"));
}

TEST(SuiteRunsTest, EveryBuiltInSuiteCanBePlanned) {
  for (const std::string& name : SuiteNames()) {
    const Suite suite = LoadSuite(name);
    EXPECT_EQ(suite.name, name);
    EXPECT_NE(suite.description, "") << name;
    for (AxisValues axes : suite.Sets()) {
      axes["seed"] = {"0"};
      EXPECT_GE(PlanRuns(ExpandRuns(axes)).size(), 1U) << name;
    }
  }
}

TEST(SuiteRunsTest, ThePaperCappedOrcaAndNotVllm) {
  for (const char* name : {"paper/fig2", "paper/fig12", "paper/fig13"}) {
    for (const AxisValues& axes : LoadSuite(name).Sets()) {
      for (const RunSpec& spec : ExpandRuns(axes)) {
        EXPECT_EQ(spec.limits.max_num_seqs, spec.design == "paged" ? 2048 : 256) << name;
        EXPECT_EQ(spec.limits.max_num_batched_tokens, 2560) << name;
        EXPECT_FALSE(spec.limits.chunked_prefill) << name;
      }
    }
  }
}

}  // namespace
}  // namespace kvbench
