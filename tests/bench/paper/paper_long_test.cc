// The vLLM paper's figures within their tolerances, and what the tolerances are.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "base/random.h"
#include "base/statistics.h"
#include "bench/paper/figures.h"
#include "bench/paper/output.h"
#include "bench/run/run_once.h"
#include "tests/workloads/testing.h"
#include "workloads/traces/trace_generator.h"

namespace kvbench {
namespace {

using testing::AllOf;
using testing::Gt;
using testing::HasSubstr;
using testing::Lt;
using testing::Not;

PaperRunner& Runner() {
  static PaperRunner runner(PaperOptions{
      .jobs = static_cast<int64_t>(std::max(1U, std::thread::hardware_concurrency()))});
  return runner;
}

const PaperSection& Section(const std::string& key) {
  static std::map<std::string, PaperSection> known;
  if (!known.contains(key)) {
    for (const PaperFigure& figure : PaperFigures()) {
      if (figure.key == key) {
        known[key] = MeasureSection(figure, Runner());
      }
    }
  }
  return known.at(key);
}

const PaperRow& Row(const std::string& section, const std::string& name) {
  for (const PaperRow& row : Section(section).rows) {
    if (row.name == name) {
      return row;
    }
  }
  throw std::logic_error("no row " + name);
}

/// The rows with a tolerance hold. How many have one, of so many in this measure at most.
int64_t ExpectHeld(const std::string& key, Closeness closeness, double most) {
  int64_t rows = 0;
  for (const PaperRow& row : Section(key).rows) {
    EXPECT_FALSE(row.failed()) << key << ", " << row.name << ": " << row.ours;
    if (row.tolerance && row.closeness == closeness) {
      ++rows;
      EXPECT_LE(*row.tolerance, most) << row.name;
      EXPECT_TRUE(row.published_low || row.published_high) << row.name;
    }
  }
  return rows;
}

PaperRow JudgedRow(double ours, std::optional<double> low, std::optional<double> high,
                   Closeness closeness, std::optional<double> tolerance) {
  PaperRow row;
  row.ours = ours;
  row.published_low = low;
  row.published_high = high;
  row.closeness = closeness;
  row.tolerance = tolerance;
  Judge(row);
  return row;
}

TEST(PaperRowTest, PointsPercentAndDecimals) {
  EXPECT_TRUE(*JudgedRow(22.4, 20.4, 20.4, Closeness::kPoints, 2.001).holds);
  EXPECT_FALSE(*JudgedRow(22.5, 20.4, 20.4, Closeness::kPoints, 2).holds);
  EXPECT_DOUBLE_EQ(*JudgedRow(18.4, 20.4, 20.4, Closeness::kPoints, 2).deviation, -2);
  EXPECT_DOUBLE_EQ(*JudgedRow(11, 10, 10, Closeness::kPercent, 5).deviation, 10);
  EXPECT_FALSE(*JudgedRow(11, 10, 10, Closeness::kPercent, 5).holds);
  EXPECT_TRUE(*JudgedRow(6.9951, 7, 7, Closeness::kDecimals, 2).holds);
  EXPECT_FALSE(*JudgedRow(6.9949, 7, 7, Closeness::kDecimals, 2).holds);
  EXPECT_FALSE(*JudgedRow(982, 983, 983, Closeness::kDecimals, 0).holds);
  EXPECT_TRUE(JudgedRow(982, 983, 983, Closeness::kDecimals, 0).failed());
}

TEST(PaperRowTest, RangesAreMeasuredFromTheNearerEnd) {
  EXPECT_NEAR(*JudgedRow(2.1, 1.0, 2.0, Closeness::kPercent, 6).deviation, 5, 1e-9);
  EXPECT_NEAR(*JudgedRow(0.9, 1.0, 2.0, Closeness::kPercent, 6).deviation, -10, 1e-9);
  EXPECT_EQ(*JudgedRow(1.5, 1.0, 2.0, Closeness::kPercent, 6).deviation, 0);
  const PaperRow open = JudgedRow(30, 22, std::nullopt, Closeness::kPoints, std::nullopt);
  EXPECT_TRUE(*open.holds);
  EXPECT_FALSE(*JudgedRow(5, std::nullopt, 4, Closeness::kPoints, std::nullopt).holds);
}

TEST(PaperRowTest, WithoutAToleranceNothingFails) {
  const PaperRow claim = JudgedRow(10, 14, 24, Closeness::kPoints, std::nullopt);
  EXPECT_FALSE(*claim.holds);
  EXPECT_FALSE(claim.failed());
  EXPECT_FALSE(JudgedRow(10, 14, 14, Closeness::kPoints, std::nullopt).holds.has_value());
  EXPECT_FALSE(
      JudgedRow(10, std::nullopt, std::nullopt, Closeness::kPoints, 1).deviation.has_value());
}

TEST(PaperRowTest, MeasuredAndListedRowsMustBeTheSame) {
  EXPECT_THROW(BuildSection("table1", {}), std::logic_error);
  PaperRunner runner({});
  PaperValues values = MeasureTable1(runner);
  values["one more"] = {1};
  EXPECT_THROW(BuildSection("table1", values), std::logic_error);
  EXPECT_THAT(SentenceOf([] { BuildSection("fig3", {}); }), HasSubstr("no section fig3"));
}

TEST(PaperReferenceTest, SaysWhereEverySectionIsFrom) {
  const auto reference = nlohmann::json::parse(PaperReference());
  EXPECT_EQ(reference.at("format"), "kvbench paper reference 1");
  EXPECT_EQ(reference.at("sections").size(), PaperFigures().size());
  for (const auto& section : reference.at("sections")) {
    EXPECT_GT(section.at("source").get<std::string>().size(), 20U);
  }
}

TEST(PaperTest, Table1) {
  EXPECT_EQ(ExpectHeld("table1", Closeness::kDecimals, 0), 3);
  EXPECT_EQ(Row("table1", "opt-13b: blocks of 16 slots").ours, 983);
  EXPECT_EQ(Row("table1", "opt-66b: blocks of 16 slots").ours, 624);
  EXPECT_EQ(Row("table1", "opt-175b: blocks of 16 slots").ours, 3760);
}

TEST(PaperTest, Figure2WithinTwoPoints) {
  EXPECT_EQ(ExpectHeld("fig2", Closeness::kPoints, 2), 13);
  EXPECT_EQ(Row("fig2", "paged: token states").seeds, 20);
}

TEST(PaperTest, Figure12WithinSixPercent) {
  EXPECT_EQ(ExpectHeld("fig12", Closeness::kPercent, 6), 18);
  EXPECT_EQ(Row("fig12", "opt-13b, paged").seeds, 5);
}

TEST(PaperTest, Figure13) {
  EXPECT_EQ(ExpectHeld("fig13", Closeness::kPercent, 10), 5);
  EXPECT_EQ(ExpectHeld("fig13", Closeness::kDecimals, 2), 2);
  for (const char* design : {"contiguous-pow2", "contiguous-oracle"}) {
    EXPECT_EQ(Row("fig13", std::string("sharegpt, ") + design).tolerance, 4);
    EXPECT_EQ(Row("fig13", std::string("alpaca, ") + design).tolerance, 5);
  }
  EXPECT_FALSE(Row("fig13", "alpaca, paged").tolerance.has_value());
}

TEST(PaperTest, Figure18bWithinAPoint) {
  EXPECT_EQ(ExpectHeld("fig18b", Closeness::kPoints, 1), 12);
}

TEST(PaperTest, HeadsWithinAPointAndFourPercent) {
  EXPECT_EQ(ExpectHeld("heads", Closeness::kPoints, 1), 12);
  EXPECT_EQ(ExpectHeld("heads", Closeness::kPercent, 4), 12);
  EXPECT_DOUBLE_EQ(Row("heads", "opt-13b, contiguous-max: requests").ours, 7);
  EXPECT_DOUBLE_EQ(Row("heads", "opt-13b-gqa8, contiguous-max: requests").ours, 38);
  EXPECT_DOUBLE_EQ(Row("heads", "opt-13b-mqa, contiguous-max: requests").ours, 307);
}

TEST(PaperTest, Claims) {
  EXPECT_EQ(ExpectHeld("claims", Closeness::kDecimals, 9), 8);
  EXPECT_EQ(ExpectHeld("claims", Closeness::kPercent, 5), 1);
  for (const PaperRow& row : Section("claims").rows) {
    if (row.holds && !*row.holds) {
      EXPECT_NE(row.note, "") << row.name << " does not hold: a sentence says why";
    }
  }
  EXPECT_THAT(Row("claims", "waste of paged, % of capacity").ours, Lt(4));
  EXPECT_THAT(Row("claims", "waste of contiguous-max, % of capacity").ours, AllOf(Gt(60), Lt(82)));
  EXPECT_THAT(Row("claims", "x HF, rate at 0.5 s/token: llama-13b").ours, Gt(5));
}

/// Mean over all steps of all requests of the tokens that they hold after it, P + 1 ... P + O:
/// whatever a scheduler does, each request runs for O steps.
double MeanContext(const Trace& trace) {
  double tokens = 0;
  double steps = 0;
  for (const Request& request : trace.requests) {
    const auto prompt = static_cast<double>(request.prompt_tokens);
    const auto output = static_cast<double>(request.output_tokens);
    tokens += prompt * output + output * (output + 1) / 2;
    steps += output;
  }
  return tokens / steps;
}

// In saturation, requests that run x mean context = tokens held, whatever the design: so shorter
// contexts make larger batches, and no rule of a design makes up for other lengths.
TEST(PaperTest, RequestsTimesMeanContextAreTheTokensHeld) {
  const double context = MeanContext(MakeTrace(
      {.lengths = "sharegpt-pairs", .arrivals = "all-at-once", .requests = 500'000, .seed = 1}));
  EXPECT_NEAR(context, 460, 2);
  const std::pair<const char*, double> kSlots[] = {
      {"opt-13b", 15'728}, {"opt-13b-gqa8", 78'640}, {"opt-13b-mqa", 629'136}};
  for (const auto& [model, slots] : kSlots) {
    for (const char* design : {"contiguous-max", "contiguous-pow2", "contiguous-oracle", "paged"}) {
      const std::string name = std::string(model) + ", " + design;
      const double held = Row("heads", name + ": token states, %").ours / 100 * slots;
      EXPECT_NEAR(Row("heads", name + ": requests").ours * context / held, 1, 0.02) << name;
    }
  }
}

/// `count` requests of the pairs that the expected values of fig18b and heads rest on, at random.
std::shared_ptr<LoadedTrace> DrawnPairs(int64_t count) {
  std::ifstream file(SharedData() / "traces/sharegpt/sharegpt_opt_text_completion_length.csv");
  std::vector<Request> pairs;
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    Request pair;
    pair.prompt_tokens = std::stoll(line);
    pair.output_tokens = std::stoll(line.substr(line.find(',') + 1));
    if (pair.prompt_tokens + pair.output_tokens <= 2048) {
      pairs.push_back(std::move(pair));
    }
  }
  EXPECT_EQ(pairs.size(), 79'731U);
  auto loaded = std::make_shared<LoadedTrace>();
  RandomStream random(0, "pairs");
  for (int64_t i = 0; i < count; ++i) {
    loaded->trace.requests.push_back(pairs[random.Below(pairs.size())]);
  }
  return loaded;
}

// The length table with dependent outputs stands for the pairs: they give the same.
TEST(PaperTest, ThePairsThemselvesGiveTheExpectedFigures) {
  KVBENCH_NEEDS_SHARED_DATA();
  const std::shared_ptr<LoadedTrace> trace = DrawnPairs(100'000);
  EXPECT_NEAR(MeanContext(trace->trace), 460, 2);
  const auto run = [&](const char* model, const char* design, const char* block_size,
                       const char* window) {
    AxisValues axes = LoadSuite("paper/heads").axes;
    axes["model"] = {model};
    axes["design"] = {design};
    axes["block-size"] = {block_size};
    axes["window"] = {window};
    axes["seed"] = {"0"};
    PlannedRun planned = PlanRuns(ExpandRuns(axes)).at(0);
    planned.trace = trace;
    return *RunOnce(planned, {.until_ps = planned.spec.window.to_ps});
  };
  const auto live = [](const RunRecord& record) { return 100 * record.kv.token_usage.value(); };
  EXPECT_NEAR(live(run("opt-13b", "paged", "256", "1000s..9000s")), 77.3, 1);
  EXPECT_NEAR(live(run("opt-13b", "contiguous-pow2", "16", "1000s..20000s")), 28.8, 1);
  EXPECT_NEAR(live(run("opt-13b-gqa8", "contiguous-pow2", "16", "215s..8000s")), 30.2, 1);
  EXPECT_NEAR(live(run("opt-13b-mqa", "contiguous-pow2", "16", "1100s..4390s")), 30.5, 1);
  const RunRecord paged = run("opt-13b-gqa8", "paged", "16", "540s..4000s");
  EXPECT_NEAR(*paged.mean_running_requests / 166, 1, 0.04);
}

// PaperCliTest looks at all of them.
TEST(PaperTablesTest, TextFitsAHundredColumns) {
  for (const char* key : {"table1", "fig2"}) {
    std::istringstream text(PaperTables({Section(key)}, PaperFormat::kText));
    for (std::string line; std::getline(text, line);) {
      EXPECT_LE(line.size(), 100U) << line;
    }
  }
}

TEST(PaperTablesTest, Formats) {
  PaperSection section = Section("table1");
  section.rows.resize(1);
  section.rows[0].name = "50 % of a_b | c";
  section.rows[0].holds = false;
  section.rows[0].tolerance = 1;
  EXPECT_THAT(PaperTables({section}, PaperFormat::kText),
              testing::ContainsRegex("50 % of a_b . c +25\\.7 +26\\.0 +-0\\.3 +1 +MISS"));
  EXPECT_THAT(PaperTables({section}, PaperFormat::kMarkdown),
              HasSubstr("| 50 % of a\\_b \\| c | 25.7 |  | 26.0 | -0.3 | 1 | MISS |\n"));
  EXPECT_THAT(PaperTables({section}, PaperFormat::kLatex),
              HasSubstr("50 \\% of a\\_b | c & 25.7 &  & 26.0 & -0.3 & 1 & MISS \\\\\n"));
  section.rows[0].name = "a, \"b\"";
  EXPECT_THAT(PaperTables({section}, PaperFormat::kCsv),
              HasSubstr("\ntable1,\"a, \"\"b\"\"\",,25.7"));
  section.claims = true;
  section.rows[0].tolerance.reset();
  EXPECT_THAT(PaperTables({section}, PaperFormat::kText),
              AllOf(HasSubstr("does not hold"), Not(HasSubstr("off by"))));
  EXPECT_THAT(SentenceOf([] { ParsePaperFormat("xml"); }), HasSubstr("'xml' is none of text"));
}

TEST(PaperJsonTest, HasEveryRowAndTheMeansOfTheRuns) {
  PaperRunner runner({.seeds = 2});
  const PaperSection section = BuildSection("fig2", MeasureFig2(runner));
  const auto json = PaperJson({section}, runner, "kvbench paper fig2");
  EXPECT_EQ(json.at("format"), "kvbench paper 1");
  ASSERT_EQ(json.at("sections").at(0).at("rows").size(), 13U);
  const auto& row = json.at("sections").at(0).at("rows").at(12);
  EXPECT_EQ(row.at("name"), "paged: token states");
  EXPECT_EQ(row.at("seeds"), 2);
  const auto& groups = json.at("suites").at("paper/fig2");
  ASSERT_EQ(groups.size(), 4U);
  EXPECT_EQ(groups[3].at("seeds"), 2);
  EXPECT_EQ(groups[3].at("axes").at("design"), "paged");
  EXPECT_DOUBLE_EQ(100 * groups[3].at("mean").at("usage_live").get<double>(),
                   row.at("ours").get<double>());
  EXPECT_TRUE(groups[3].at("mean").at("output_throughput").is_null());
}

}  // namespace
}  // namespace kvbench
