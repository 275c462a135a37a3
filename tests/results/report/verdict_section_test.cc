#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "results/report/html_page.h"
#include "results/report/sections.h"
#include "results/report/table_formats.h"
#include "tests/results/compare/example_comparison.h"
#include "tests/results/example_results.h"

namespace kvbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using Json = nlohmann::json;

std::vector<std::string> Column(const ReportTable& table, size_t column) {
  std::vector<std::string> cells;
  for (const ReportRow& row : table.rows) {
    cells.push_back(row.cells.at(column).text);
  }
  return cells;
}

TEST(VerdictSection, GoldenFile) {
  ExpectGolden(MarkdownTables(VerdictSection(ExampleComparison()).tables), "verdicts.md");
}

TEST(VerdictSection, WhatNeedsLookingAtComesFirst) {
  const ReportSection section = VerdictSection(ExampleComparison());
  ASSERT_EQ(section.tables.size(), 2U);
  const ReportTable& table = section.tables[0];
  EXPECT_THAT(Column(table, 1), ElementsAre("changed", "slower", "undecided", "only in base",
                                            "only in new", "faster", "same"));
  EXPECT_THAT(table.facts, ElementsAre(HasSubstr("1 slower, 1 changed")));
  const ReportRow& slower = table.rows[1];
  EXPECT_THAT(slower.label, HasSubstr("design=slower"));
  EXPECT_EQ(slower.cells[5].text, "1.120");
  EXPECT_DOUBLE_EQ(*slower.cells[5].number, 1.12);
  EXPECT_DOUBLE_EQ(*slower.cells[6].number, 1.10);
  EXPECT_DOUBLE_EQ(*slower.cells[7].number, 1.14);
  EXPECT_EQ(table.rows[2].cells[6].text, "-");  // undecided, without an interval
  EXPECT_EQ(table.rows[2].cells.back().text, "needs 9 repetitions, has 3");
}

TEST(VerdictSection, ChangedFieldsHaveBothValues) {
  const ReportTable fields = VerdictSection(ExampleComparison()).tables[1];
  ASSERT_EQ(fields.rows.size(), 4U);
  EXPECT_EQ(fields.rows[0].cells[1].text, "kv.peak_live_slots");
  EXPECT_EQ(fields.rows[0].cells[2].number, 1968);
  EXPECT_EQ(fields.rows[0].cells[3].number, 1970);
  EXPECT_EQ(fields.rows[1].cells[2].text, "\"<a>\"");
  EXPECT_EQ(fields.rows[1].cells[2].number, std::nullopt);
  EXPECT_EQ(fields.rows[1].cells[4].text, "1");
  EXPECT_THAT(fields.notes, ElementsAre("4 of 24 changed values are listed."));
}

TEST(VerdictSection, TheSameChangeInSeveralRepetitionsIsARow) {
  CompareReport report;
  RunComparison& run = report.comparisons.emplace_back().runs.emplace_back();
  run.verdict = Verdict::kChanged;
  for (const int64_t repetition : {0, 1, 2, 3}) {
    run.changes.push_back({"steps", repetition, "10", "11"});
    run.changes.push_back({"completed", repetition, "5", repetition % 3 == 0 ? "6" : "7"});
  }
  run.changes_in_all = 8;
  const ReportTable fields = VerdictSection(report).tables[1];
  EXPECT_THAT(Column(fields, 4), ElementsAre("0 to 3", "0, 3", "1, 2"));
  EXPECT_TRUE(fields.notes.empty());
}

TEST(VerdictSection, ModelledRunsHaveNoColumnsOfTimes) {
  CompareReport report;
  Comparison& comparison = report.comparisons.emplace_back();
  comparison.runs.resize(2);
  comparison.runs[0].label = "design=a";
  comparison.runs[1].label = "design=b";
  NameRuns(comparison);
  const ReportSection section = VerdictSection(report);
  ASSERT_EQ(section.tables.size(), 1U);
  EXPECT_EQ(section.tables[0].columns.size(), 3U);
  EXPECT_TRUE(section.charts.empty());
  EXPECT_THAT(section.text, Not(HasSubstr("threshold")));
}

TEST(VerdictSection, EveryTimingOfARunIsARow) {
  CompareReport report = ExampleComparison();
  RunComparison run = report.comparisons[0].runs[1];
  run.timings.push_back(report.comparisons[0].runs[2].timings[0]);
  run.timings[1].metric = "p99_itl_ms";
  run.verdict = JudgeRun(run);
  report.comparisons[0].runs = {run};
  const ReportTable table = VerdictSection(report).tables[0];
  EXPECT_THAT(Column(table, 1), ElementsAre("faster", "slower"));
  EXPECT_THAT(Column(table, 2), ElementsAre("output_throughput", "p99_itl_ms"));
}

TEST(VerdictSection, TheChartHasIntervalsAgainstTheThreshold) {
  const ReportSection section = VerdictSection(ExampleComparison());
  ASSERT_EQ(section.charts.size(), 1U);
  const ChartPanel& panel = section.charts[0].panels[0];
  EXPECT_THAT(panel.guides, ElementsAre(1 / 1.05, 1, 1.05));
  ASSERT_EQ(panel.categories.size(), 5U);
  ASSERT_EQ(panel.series.size(), 5U);
  const ChartSeries& slower = panel.series[1];
  EXPECT_EQ(slower.name, "slower");
  ASSERT_EQ(slower.ranges.size(), 5U);
  EXPECT_FALSE(slower.ranges[0].has_value());
  EXPECT_EQ(slower.ranges[1], std::pair(1.12 - 0.02, 1.12 + 0.02));
  EXPECT_EQ(panel.series[2].ranges[2], std::pair(1.1, 1.1));  // of an unknown interval
  EXPECT_EQ(ChartJson(section.charts[0])["panels"][0]["series"][1]["values"][1], 1.12);
  EXPECT_EQ(section.charts[0].numbers.rows[2].cells[3].text, "-");
}

TEST(VerdictSection, ManyRunsStayReadable) {
  CompareReport report = ExampleComparison();
  std::vector<RunComparison>& runs = report.comparisons[0].runs;
  runs.resize(300, runs[3]);  // changed
  const ReportSection section = VerdictSection(report);
  EXPECT_EQ(section.tables[1].rows.size(), 500U);
  EXPECT_EQ(section.charts[0].panels[0].categories.size(), 40U);
  EXPECT_THAT(section.charts[0].caption, HasSubstr("left out"));
}

TEST(VerdictSection, AVerdictOnThePageIsAWordInAFrame) {
  if (!CanWriteHtml()) {
    GTEST_SKIP() << "built without Chart.js: apt-get install libjs-chart.js";
  }
  HtmlPage page;
  page.sections = {VerdictSection(ExampleComparison())};
  std::ostringstream out;
  WriteHtml(page, out);
  EXPECT_THAT(out.str(), HasSubstr("<h2 id=\"verdicts\">"));
  EXPECT_THAT(out.str(), HasSubstr("<span class=\"verdict slower\">slower</span>"));
  EXPECT_THAT(out.str(), HasSubstr("<span class=\"verdict only-in-base\">only in base</span>"));
  EXPECT_THAT(out.str(), HasSubstr("&quot;&lt;a&gt;&quot;"));
}

}  // namespace
}  // namespace kvbench
