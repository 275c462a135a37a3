#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "results/record/json_reader.h"
#include "results/record/label.h"
#include "results/report/html_page.h"
#include "results/report/report_table.h"
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

std::vector<const RunRecord*> Pointers(const std::vector<RunRecord>& runs) {
  std::vector<const RunRecord*> pointers;
  for (const RunRecord& run : runs) {
    pointers.push_back(&run);
  }
  return pointers;
}

std::vector<ReportTable> ExampleTables() {
  const ResultsFile file = ExampleResults();
  return MainTables(Pointers(file.runs));
}

/// Two designs at three rates each, with several block sizes.
std::vector<RunRecord> Sweep() {
  std::vector<RunRecord> runs;
  for (const double rate : {1.0, 2.0, 4.0}) {
    for (const char* design : {"contiguous-max", "paged"}) {
      for (const int64_t block_size : {8, 16}) {
        RunRecord run = ExampleRun(design);
        if (run.design.block_size) {
          run.design.block_size = block_size;
        } else if (block_size == 16) {
          continue;
        }
        run.trace.request_rate = rate;
        run.trace.sha256 = std::string(63, 'a') + std::to_string(static_cast<int>(rate));
        run.label = MakeLabel(run);
        runs.push_back(run);
      }
    }
  }
  return runs;
}

std::vector<TableGroup> Groups(const std::vector<const RunRecord*>& runs) {
  return GroupRuns(runs, Grouping::kTraceName);
}

/// Everything in names that a format takes for itself.
ReportTable Awkward() {
  ReportTable table;
  table.title = "a_b & 50 % of #1 {x} ~ ^ \\ $ <c> \"d\" e|f *g* `h`";
  table.facts = {table.title};
  table.notes = {table.title};
  table.columns = {{table.title, "", ""}, {"why", "", "", true}, {"n", "%", "key"}};
  const ReportCell why = {"a sentence that is long enough to be broken into lines", std::nullopt};
  table.rows = {{"label", {{table.title, std::nullopt}, why, {"1,234.5", 1234.5}}},
                {"label", {{"two\nlines", std::nullopt}, why, {"-", std::nullopt}}}};
  return table;
}

TEST(ReportTables, MarkdownGoldenFile) {
  ExpectGolden(MarkdownTables(ExampleTables()), "report.md");
}
TEST(ReportTables, LatexGoldenFile) { ExpectGolden(LatexTables(ExampleTables()), "report.tex"); }
TEST(ReportTables, CsvGoldenFile) { ExpectGolden(CsvTables(ExampleTables()), "report.csv"); }

TEST(ReportTables, LatexCompiles) {
  if (std::system("command -v pdflatex >/dev/null") != 0) {
    GTEST_SKIP() << "pdflatex is not installed: apt-get install texlive-latex-base";
  }
  const std::filesystem::path folder = testing::TempDir() + "/kvbench_latex";
  std::filesystem::create_directories(folder);
  std::vector<ReportTable> tables = ExampleTables();
  const std::vector<RunRecord> sweep = Sweep();
  for (ReportTable& table : MainTables(Pointers(sweep))) {
    tables.push_back(std::move(table));
  }
  for (ReportTable& table : VerdictSection(ExampleComparison()).tables) {
    tables.push_back(std::move(table));
  }
  tables.push_back(Awkward());
  std::ofstream(folder / "report.tex") << "\\documentclass{article}\n\\begin{document}\n"
                                       << LatexTables(tables) << "\\end{document}\n";
  const std::string command = "cd '" + folder.string() +
                              "' && pdflatex -interaction=nonstopmode -halt-on-error report.tex "
                              ">report.out 2>&1";
  std::ostringstream log;
  const int code = std::system(command.c_str());
  log << std::ifstream(folder / "report.out").rdbuf();
  EXPECT_EQ(code, 0) << log.str();
  EXPECT_GT(std::filesystem::file_size(folder / "report.pdf"), 1000U);
}

TEST(ReportTables, WhatVariesIsAColumn) {
  const std::vector<RunRecord> runs = Sweep();
  const std::vector<ReportTable> tables = MainTables(Pointers(runs));
  ASSERT_EQ(tables.size(), 1U);  // the rates' digests make no tables of their own
  EXPECT_EQ(tables[0].columns[1].name, "rate");
  ASSERT_EQ(tables[0].rows.size(), 9U);
  EXPECT_EQ(tables[0].rows[0].cells[1].text, "1");
  EXPECT_EQ(tables[0].rows[8].cells[1].text, "4");
  EXPECT_EQ(tables[0].columns[2].name, "KV waste");  // no digest beside the rate
}

TEST(ReportTables, AwkwardNames) {
  const std::string markdown = MarkdownTables({Awkward()});
  EXPECT_THAT(markdown, HasSubstr("e\\|f \\*g\\* \\`h\\`"));
  EXPECT_THAT(markdown, HasSubstr("two?lines"));
  const std::string csv = CsvTables({Awkward()});
  EXPECT_THAT(csv, HasSubstr("<c> \"\"d\"\""));
  EXPECT_THAT(csv, HasSubstr(",1234.5\n"));
  EXPECT_THAT(csv, HasSubstr("\"two\nlines\",a sentence that is long enough to be broken into "
                             "lines,\n"));  // unknown is empty
  EXPECT_THAT(LatexTables({Awkward()}), HasSubstr("{lp{0.25\\linewidth}r}"));
}

TEST(ReportSections, UsageAddsUpToEverything) {
  const ResultsFile file = ExampleResults();
  const auto runs = Pointers(file.runs);
  const ReportSection section = UsageSection(Groups(runs));
  ASSERT_EQ(section.charts.size(), 2U);
  const ChartPanel& panel = section.charts[0].panels[0];
  ASSERT_EQ(panel.series.size(), 5U);
  ASSERT_EQ(panel.categories.size(), 4U);
  for (size_t i = 0; i < panel.categories.size(); ++i) {
    double sum = 0;
    for (const ChartSeries& series : panel.series) {
      sum += *series.values[i];
    }
    EXPECT_NEAR(sum, 100, 1e-9);
  }
  EXPECT_DOUBLE_EQ(*panel.series[0].values[0], 18.75);
  EXPECT_EQ(*section.charts[0].numbers.rows[0].cells[1].number, 18.75);
}

TEST(ReportSections, TimelinesWhereThereAreSome) {
  const ResultsFile file = ExampleResults();
  const auto runs = Pointers(file.runs);
  const ReportSection section = TimelineSection(Groups(runs));
  ASSERT_EQ(section.charts.size(), 1U);
  const auto& panels = section.charts[0].panels;
  ASSERT_EQ(panels.size(), 2U);
  EXPECT_THAT(panels[1].series[0].points,
              ElementsAre(std::pair(0.125, 32.0), std::pair(13.5, 0.0)));
  EXPECT_THAT(panels[0].series[4].points[1], std::pair(13.5, 100.0));
}

TEST(ReportSections, CurvesOverRatesAndBlockSizes) {
  const std::vector<RunRecord> sweep = Sweep();
  const auto runs = Pointers(sweep);
  const ReportSection rates = RateSection(Groups(runs));
  ASSERT_EQ(rates.charts.size(), 1U);
  const ChartPanel& over_rate = rates.charts[0].panels[0];
  ASSERT_EQ(over_rate.series.size(), 3U);
  EXPECT_EQ(over_rate.series[0].name, "contiguous-max");
  EXPECT_EQ(over_rate.series[0].points.size(), 3U);
  EXPECT_EQ(rates.charts[0].numbers.rows.size(), 9U);
  const ReportSection blocks = BlockSizeSection(Groups(runs));
  ASSERT_EQ(blocks.charts.size(), 1U);
  EXPECT_THAT(blocks.charts[0].panels[0].categories, ElementsAre("8", "16"));
  EXPECT_EQ(blocks.charts[0].panels[0].series[0].name, "paged rate=1");

  const ResultsFile file = ExampleResults();
  const auto others = Pointers(file.runs);
  EXPECT_TRUE(RateSection(Groups(others)).empty());
  EXPECT_TRUE(BlockSizeSection(Groups(others)).empty());
}

TEST(ReportSections, LatenciesOfAllRequestsWhereTheyWereKept) {
  const ResultsFile file = ExampleResults();
  const auto runs = Pointers(file.runs);
  const ReportSection section = LatencySection(Groups(runs));
  ASSERT_EQ(section.charts.size(), 2U);
  ASSERT_EQ(section.charts[0].panels.size(), 4U);
  const auto& all = section.charts[0].panels[2].series;
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].points.back(), std::pair(100.0, 1237.5));  // of request 99
  EXPECT_EQ(section.charts[1].panels.size(), 2U);
}

TEST(ReportSections, KernelsAgainstTheRoof) {
  const ReportSection section = KernelSection(R"({"context": {"cpu_model": "X"}, "benchmarks": [
    {"name": "decode/a/manual_time", "run_type": "iteration", "kv_bytes_per_s": 4e9,
     "roof_bytes_per_s": 8e9, "roof_share": 0.5},
    {"name": "decode/a/manual_time", "run_type": "iteration", "kv_bytes_per_s": 6e9,
     "roof_bytes_per_s": 8e9, "roof_share": 0.75},
    {"name": "decode/a/manual_time", "run_type": "aggregate", "kv_bytes_per_s": 9e9,
     "roof_bytes_per_s": 8e9, "roof_share": 0.75},
    {"name": "read_roof", "run_type": "iteration", "bytes_per_s": 1}]})");
  ASSERT_EQ(section.charts[0].numbers.rows.size(), 1U);
  const std::vector<ReportCell>& cells = section.charts[0].numbers.rows[0].cells;
  EXPECT_EQ(cells[0].text, "decode/a");
  EXPECT_EQ(*cells[1].number, 5);
  EXPECT_EQ(*cells[3].number, 62.5);
  EXPECT_THROW(KernelSection(R"({"benchmarks": []})"), Error);
  EXPECT_THROW(KernelSection(R"({"benchmarks": [{"roof_bytes_per_s": 1, "kv_bytes_per_s": "x",
    "name": "n"}]})"),
               Error);
}

TEST(ReportSections, PaperRowsBesideOurs) {
  const std::string row = R"({"name": "paged", "unit": "%", "ours": 96.2, "spread": 0.1,
    "published_low": 96.3, "published_high": 96.3, "deviation": -0.1, "holds": true,
    "note": "a note"})";
  const std::string text = R"({"format": "kvbench paper 1", "sections": [{"key": "fig2",
    "title": "Figure 2", "reference": "paper", "source": "the paper", "notes": [],
    "rows": [)" + row + "," +
                           row + "]}]}";
  const std::vector<ReportSection> sections = PaperSections(text);
  ASSERT_EQ(sections.size(), 1U);
  ASSERT_EQ(sections[0].charts.size(), 1U);
  EXPECT_EQ(sections[0].charts[0].numbers.rows[0].cells[4].text, "96.3");
  EXPECT_EQ(sections[0].charts[0].numbers.rows[0].cells[6].text, "holds");
  EXPECT_THROW(PaperSections(R"({"sections": []})"), Error);
  EXPECT_THROW(PaperSections(R"({"sections": [{"key": null}]})"), Error);
}

TEST(ReportSections, ShortNumbers) {
  EXPECT_EQ(ShortNumber(1234567.8), "1,234,568");
  EXPECT_EQ(ShortNumber(12.345), "12.3");
  EXPECT_EQ(ShortNumber(1.2345), "1.23");
  EXPECT_EQ(ShortNumber(0.5), "0.500");
  EXPECT_EQ(ShortNumber(0.00123456), "0.00123");
  EXPECT_EQ(ShortNumber(7), "7");
  EXPECT_EQ(ShortNumber(std::nullopt), "-");
}

/// What stands between two texts of a page.
std::string Between(const std::string& text, const std::string& begin, const std::string& end) {
  const size_t from = text.find(begin) + begin.size();
  return text.substr(from, text.find(end, from) - from);
}

TEST(ReportPage, HoldsItsNumbersAndNothingFromOutside) {
  if (!CanWriteHtml()) {
    GTEST_SKIP() << "built without Chart.js: apt-get install libjs-chart.js";
  }
  ResultsFile file = ExampleResults();
  file.run_info.command = "kvbench run </script><script>alert(1)</script>";
  const auto runs = Pointers(file.runs);
  HtmlPage page;
  page.title = "<title> & more";
  page.sources = {DescribeSource("a.json", file)};
  page.sections = {{"results", "Results", "", MainTables(runs), {}}, UsageSection(Groups(runs))};
  std::ostringstream out;
  WriteHtml(page, out);
  const std::string text = out.str();
  EXPECT_THAT(text, HasSubstr("&lt;title&gt; &amp; more"));
  EXPECT_THAT(text, Not(HasSubstr("<script>alert")));
  EXPECT_THAT(text, Not(HasSubstr("src=")));
  const Json data =
      Json::parse(Between(text, "<script type=\"application/json\" id=\"data\">", "</script>"));
  EXPECT_EQ(data["charts"].size(), 2U);
  const Json& row = data["tables"][0]["rows"][0];
  EXPECT_EQ(row["label"], file.runs[0].label);
  EXPECT_EQ(data["tables"][0]["columns"][6]["key"], "output_throughput");
  EXPECT_EQ(row["values"][6], *file.runs[0].output_throughput);
}

}  // namespace
}  // namespace kvbench
