#include "results/table/table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "results/record/label.h"
#include "tests/results/example_results.h"

namespace kvbench {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// The table of these runs, checked for what holds for every table.
std::string Table(const ResultsFile& file) {
  std::string table = RenderTable(file);
  std::istringstream lines(table);
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(line.size(), 100U) << line;
  }
  EXPECT_TRUE(std::all_of(table.begin(), table.end(), [](char c) {
    return c == '\n' || (c >= ' ' && c <= '~');
  })) << table;
  return table;
}

std::string TableOf(std::vector<RunRecord> runs) {
  ResultsFile file;
  for (RunRecord& run : runs) {
    run.label = MakeLabel(run);
  }
  file.runs = std::move(runs);
  return Table(file);
}

/// Spaces between words made one, so that a sentence is found wherever it was broken.
std::string Flat(const std::string& text) {
  std::istringstream in(text);
  std::string flat;
  for (std::string word; in >> word;) {
    flat += (flat.empty() ? "" : " ") + word;
  }
  return flat;
}

TEST(Table, GoldenFile) { ExpectGolden(Table(ExampleResults()), "table.txt"); }

TEST(Table, GoldenFileOfAnEmptyRun) { ExpectGolden(Table(EmptyResults()), "empty_table.txt"); }

TEST(Table, WithoutRuns) { EXPECT_EQ(RenderTable(ResultsFile()), "No runs.\n"); }

TEST(Table, RepetitionsAreOneRowWithTheirMedians) {
  std::vector<RunRecord> runs(3, ExampleRun("paged"));
  for (size_t i = 0; i < 3; ++i) {
    runs[i].repetition = static_cast<int64_t>(i);
  }
  runs[0].output_throughput = 100;
  runs[1].output_throughput = 300;
  runs[2].output_throughput = 110;
  const std::string table = TableOf(runs);
  EXPECT_THAT(table, HasSubstr(" 110.0 "));
  EXPECT_THAT(table, Not(HasSubstr(" 300.0 ")));
  EXPECT_THAT(Flat(table), HasSubstr("Each row is the median of 3 repetitions; output tokens/s "
                                     "lay up to 181.8 % apart."));
}

TEST(Table, SaysWhereMemoryDidNotBind) {
  RunRecord max = ExampleRun("contiguous-max");
  RunRecord paged = ExampleRun("paged");
  EXPECT_THAT(TableOf({max, paged}), Not(HasSubstr("memory did not bind")));
  paged.bound_by = {0, 0, 0, 1};
  EXPECT_THAT(Flat(TableOf({max, paged})),
              HasSubstr("* paged/16: memory did not bind; the load was too small, in most steps no "
                        "request waited."));
  EXPECT_THAT(TableOf({max, paged}), Not(HasSubstr("look alike")));
  max.bound_by = {0, 1, 0, 0};
  EXPECT_THAT(Flat(TableOf({max, paged})), HasSubstr("So all designs look alike in speed here."));
}

TEST(Table, LimitsThatDifferStandAboveTheRows) {
  RunRecord few = ExampleRun("contiguous-max");
  RunRecord many = ExampleRun("paged");
  many.limits.max_num_seqs = 2'048;
  const std::string table = TableOf({few, many});
  EXPECT_THAT(table, HasSubstr("with max-num-seqs=256\n"));
  EXPECT_THAT(table, HasSubstr("with max-num-seqs=2048\n"));
  EXPECT_THAT(table, Not(HasSubstr("256 sequences")));
}

TEST(Table, WhatComesWithTheDesignDoesNotSplitTheTable) {
  RunRecord max = ExampleRun("contiguous-max");
  max.limits.watermark = 0;
  max.limits.preemption = "none";
  const RunRecord paged = ExampleRun("paged");
  EXPECT_THAT(TableOf({max, paged}), Not(HasSubstr("with ")));
  RunRecord more = paged;
  more.limits.watermark = 0.05;
  const std::string table = TableOf({paged, more});
  EXPECT_THAT(table, HasSubstr("with watermark=0.01\n"));
  EXPECT_THAT(table, HasSubstr("with watermark=0.05\n"));
}

TEST(Table, MeasuredAndModelledAreToldApart) {
  RunRecord modelled = ExampleRun("paged");
  modelled.executor = {"modelled", "a100-40gb", std::nullopt, 1, true, std::nullopt,
                       "roofline", 1,           std::nullopt};
  modelled.verification.reset();
  modelled.phases.reset();
  EXPECT_THAT(TableOf({modelled}), HasSubstr("modelled, not measured, a100-40gb"));
  const std::string both = TableOf({ExampleRun("paged"), modelled});
  EXPECT_THAT(both, HasSubstr("with executor=cpu "));
  EXPECT_THAT(both, HasSubstr("with executor=modelled hardware=a100-40gb\n"));
}

TEST(Table, AQueueThatGrowsIsSaid) {
  RunRecord run = ExampleRun("contiguous-max");
  run.trace.request_rate = 2;
  run.request_throughput = 0.76;
  run.mean_waiting_requests = 1234.6;
  run.bound_by = {.memory = 0.95, .sequences = 0, .tokens = 0, .nothing = 0.05};
  EXPECT_THAT(TableOf({run}), HasSubstr("served 0.76 of 2 requests/s; the queue grew"));
  run.request_throughput = 1.95;
  EXPECT_THAT(TableOf({run}), Not(HasSubstr("the queue grew")));
  run.request_throughput = 0.76;
  run.bound_by.nothing = 0.5;  // few requests, and their last ones took their time
  EXPECT_THAT(TableOf({run}), Not(HasSubstr("the queue grew")));
}

TEST(Table, VerificationIsSaid) {
  RunRecord run = ExampleRun("paged");
  EXPECT_THAT(TableOf({run}), HasSubstr("Verified against the reference kernel: 64 or more"));
  run.verification->passed = false;
  run.verification->max_relative_error = 0.25;
  EXPECT_THAT(TableOf({run}),
              HasSubstr("VERIFICATION FAILED: paged/16 (error 2.5e-01, tolerance 1e-05)."));
  run.verification = Verification{};
  EXPECT_THAT(TableOf({run}), HasSubstr("Not verified: paged/16."));
  run.verification.reset();
  EXPECT_THAT(TableOf({run}), HasSubstr("Not verified: paged/16."));
}

TEST(Table, RejectionsAndExclusionsAreSaid) {
  RunRecord run = ExampleRun("paged");
  run.failed = 2;
  run.window.from_s = 300;
  run.window.excluded.requests = {{0, 9}, {90, 99}};
  run.window.excluded.phases = {"warmup"};
  const std::string table = Flat(TableOf({run}));
  EXPECT_THAT(table, HasSubstr("paged/16: rejected 6 of 100 requests: prompt and output exceed "
                               "max_model_len (6)."));
  EXPECT_THAT(table, HasSubstr("paged/16: 2 of 100 requests FAILED."));
  EXPECT_THAT(table, HasSubstr("leave out what lies outside 300 s to the end, the phase warmup and "
                               "20 requests by their index."));
}

TEST(Table, StaysWithinItsColumnsWhateverTheNumbersAre) {
  RunRecord run = ExampleRun("contiguous-oracle");
  run.design.name = std::string(60, 'x');
  run.model.name = "\xc3\xa4\x1b[31m";
  run.trace.name = std::string(80, 'y');
  run.output_throughput = 12'345'678;
  run.ttft["median"] = 98'765'432;
  run.tpot["median"] = 4'321;
  run.completed = 1'234'567;
  run.rejected = 7'654'321;
  run.preemptions = 123'456;
  run.peak_running_requests = 10'000;
  const std::string table = TableOf({run});
  EXPECT_THAT(table, HasSubstr("98,765.4"));
}

}  // namespace
}  // namespace kvbench
