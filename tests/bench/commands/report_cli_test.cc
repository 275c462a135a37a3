// `kvbench report` as a user runs it; the page is opened in a browser where there is one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "tests/bench/commands/program.h"

namespace kvbench {
namespace report_cli {

using testing::HasSubstr;
using testing::StartsWith;
using Json = nlohmann::json;

constexpr int kBrowserSkips = 77;

/// A folder with rates.json, a sweep, and micro.json and fig2.json of the other programs, made
/// once.
const std::filesystem::path& Folder() {
  static const std::filesystem::path folder = [] {
    const std::filesystem::path path = testing::TempDir() + "/kvbench_report";
    std::filesystem::create_directories(path);
    const Outcome made =
        RunKvbench(path,
                   "run --model opt-13b --design contiguous-max,paged --block-size 8,16 --executor "
                   "modelled --hardware a100-sxm4-40gb --lengths sharegpt --rate 1,2,4 --requests "
                   "60 --detailed --out rates.json");
    EXPECT_EQ(made.code, 0) << made.err;
    RunKvbench(path, "paper fig2 --seeds 1 --out fig2.json");
    std::ofstream(path / "micro.json")
        << R"({"context": {"cpu_model": "X"}, "benchmarks": [{"name": "decode/a/manual_time",
          "run_type": "iteration", "real_time": 7, "time_unit": "ns", "kv_bytes_per_s": 4e9,
          "roof_bytes_per_s": 8e9, "roof_share": 0.5}]})";
    return path;
  }();
  return folder;
}

Outcome Kvbench(const std::string& arguments) { return RunKvbench(Folder(), arguments); }

TEST(ReportCliTest, TablesInThreeFormats) {
  const Outcome markdown = Kvbench("report rates.json");
  EXPECT_EQ(markdown.code, 0) << markdown.err;
  EXPECT_THAT(markdown.out, StartsWith("### opt-13b, trace sharegpt\n"));
  EXPECT_THAT(Kvbench("report rates.json --format latex").out, HasSubstr("\\begin{tabular}"));
  EXPECT_THAT(Kvbench("report rates.json --format csv").out, StartsWith("table,design,"));
  const Outcome all = Kvbench("report rates.json fig2.json micro.json");
  EXPECT_THAT(all.out, HasSubstr("### Figure 2"));
  EXPECT_THAT(all.out, HasSubstr("### Bandwidth of the kernels"));
}

TEST(ReportCliTest, SomeRunsAlone) {
  const Outcome outcome = Kvbench("report rates.json --only rate=2 --only design=paged");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("| paged/8 |"));
  EXPECT_THAT(outcome.out, testing::Not(HasSubstr("contiguous")));
}

TEST(ReportCliTest, Refusals) {
  EXPECT_EQ(Kvbench("report rates.json --format pdf").code, 2);
  EXPECT_EQ(Kvbench("report").code, 2);
  EXPECT_THAT(Kvbench("report rates.json --out /no/such/r.md").err, HasSubstr("cannot write"));
  const std::string micro = ReadFile(Folder() / "micro.json");
  std::ofstream(Folder() / "cut.json") << micro.substr(0, micro.size() - 20);
  EXPECT_THAT(Kvbench("report cut.json").err, HasSubstr("cut.json: the JSON ends too early"));
  std::ofstream(Folder() / "none.json") << R"({"benchmarks": []})";
  const Outcome none = Kvbench("report none.json");
  EXPECT_EQ(none.code, 2);
  EXPECT_THAT(none.err, HasSubstr("none.json: there is no benchmark with a roof"));
}

/// base.json, a measured run with nine repetitions, and slower.json and changed.json, made once.
void MakePair() {
  if (std::filesystem::exists(Folder() / "changed.json")) {
    return;
  }
  const Outcome made = Kvbench(
      "run --model " KVBENCH_SOURCE_DIR
      "/tests/data/tiny-gqa.json --kv-memory 512KiB --max-model-len 128 --lengths "
      "uniform:prompt=1-30:output=1-30 --requests 12 --threads 1 --design contiguous-max,paged "
      "--repetitions 9 --out base.json");
  ASSERT_EQ(made.code, 0) << made.err;
  Json json = Json::parse(ReadFile(Folder() / "base.json"));
  const auto save = [&](const char* name, double slowdown) {
    for (Json& run : json["runs"]) {
      const bool paged = run["design"]["name"] == "paged";
      run["output_throughput"] = (1'000 + run["repetition"].get<int>()) / (paged ? slowdown : 1.0);
    }
    std::ofstream(Folder() / name) << json.dump();
  };
  save("base.json", 1);
  save("slower.json", 1.5);
  json["runs"][0]["preemptions"] = 777;
  save("changed.json", 1);
}

TEST(ReportCliTest, VerdictsAgainstABase) {
  MakePair();
  const Outcome slower = Kvbench("report slower.json --base base.json");
  EXPECT_EQ(slower.code, 0) << slower.err;  // compare is the gate
  EXPECT_THAT(slower.out, HasSubstr("### Verdicts, slower.json against base.json"));
  EXPECT_THAT(slower.out, HasSubstr("1 same, 1 slower (of 2 runs), threshold 5 %"));
  EXPECT_THAT(slower.out, HasSubstr("| slower | output\\_throughput | 1,004 | 669.3 | 1.500 |"));
  const Outcome lenient = Kvbench("report slower.json --base base.json --threshold 60%");
  EXPECT_THAT(lenient.out, HasSubstr("2 same (of 2 runs), threshold 60 %"));
  const Outcome changed = Kvbench("report changed.json --base base.json --format csv");
  EXPECT_EQ(changed.code, 0) << changed.err;
  EXPECT_THAT(changed.out, HasSubstr(",preemptions,"));
  EXPECT_THAT(changed.out, HasSubstr(",777,0\n"));
  const Outcome micro = Kvbench("report rates.json micro.json --base micro.json");
  EXPECT_THAT(micro.out, HasSubstr("### Verdicts, micro.json against micro.json"));
  EXPECT_THAT(micro.out, HasSubstr("needs 9 repetitions, has 1"));
  const Outcome some = Kvbench("report slower.json --base base.json --only design=contiguous-max");
  EXPECT_THAT(some.out, HasSubstr("1 same (of 1 run), threshold"));
}

TEST(ReportCliTest, BasesThatCannotBe) {
  MakePair();
  const auto refused = [](const std::string& arguments, const std::string& part) {
    const Outcome outcome = Kvbench("report " + arguments);
    EXPECT_EQ(outcome.code, 2) << arguments;
    EXPECT_THAT(outcome.err, HasSubstr(part)) << arguments;
  };
  refused("slower.json --base rates.json", "have no run in common");
  refused("slower.json --base micro.json", "micro.json holds benchmarks of kvbench_micro, and no");
  refused("slower.json --base fig2.json", "fig2.json is a file of kvbench paper");
  refused("slower.json --base ''", "cannot read");
  refused("slower.json --base base.json --threshold 0", "--threshold '0'");
  refused("slower.json --base base.json --metric no_such", "no run has a timing 'no_such'");
  refused("slower.json --threshold 10%", "--base");
}

/// The value of a table's key in a run; a key of a point of the timeline or of one of several
/// latencies needs the table's row. Nothing where there is none.
std::optional<double> ValueIn(const Json& run, std::string key, const Json& columns,
                              const Json& values) {
  if (const size_t latency = key.find("{latency}"); latency != std::string::npos) {
    auto name = values[1].get<std::string>();
    std::transform(name.begin(), name.end(), name.begin(), [](char c) { return std::tolower(c); });
    key.replace(latency, 9, name);
  }
  Json point = run;
  if (key.starts_with("timeline[].")) {
    key = key.substr(11);
    for (size_t i = 0; i < columns.size(); ++i) {
      if (columns[i]["key"] == "timeline[].time_s") {
        const auto found =
            std::find_if(run["timeline"].begin(), run["timeline"].end(), [&](const Json& other) {
              return std::abs(other["time_s"].get<double>() - values[i].get<double>()) < 1e-9;
            });
        point = found == run["timeline"].end() ? Json() : *found;
      }
    }
    // Slots are shown as shares of all.
    if (key != "time_s" && key != "running" && key != "waiting" && point.contains(key)) {
      return 100 * point[key].get<double>() / run["design"]["capacity_slots"].get<double>();
    }
  }
  std::replace(key.begin(), key.end(), '.', '/');
  const Json::json_pointer place("/" + key);
  return point.contains(place) && point[place].is_number()
             ? std::optional(point[place].get<double>())
             : std::nullopt;
}

TEST(ReportCliTest, EveryNumberOfThePageIsTheRecords) {
  const Outcome made = Kvbench("report rates.json --out numbers.html");
  if (made.code == 3) {
    GTEST_SKIP() << made.err;
  }
  const std::string page = ReadFile(Folder() / "numbers.html");
  const std::string open = "id=\"data\"";
  const size_t begin = page.find('>', page.find(open)) + 1;
  const Json data = Json::parse(page.substr(begin, page.find("</script>", begin) - begin));
  const Json results = Json::parse(ReadFile(Folder() / "rates.json"));
  std::map<std::string, Json> runs;
  for (const Json& run : results["runs"]) {
    runs[run["label"].get<std::string>()] = run;
  }
  int numbers = 0;
  for (const Json& table : data["tables"]) {
    for (const Json& row : table["rows"]) {
      for (size_t i = 0; i < table["columns"].size(); ++i) {
        const Json& shown = row["values"][i];
        if (!shown.is_number()) {
          continue;
        }
        const Json& column = table["columns"][i];
        const auto key = column["key"].get<std::string>();
        const auto value =
            ValueIn(runs.at(row["label"].get<std::string>()), key, table["columns"], row["values"]);
        ASSERT_TRUE(value) << table["title"] << ": " << column;
        const double scale = column["unit"] == "%" && !key.starts_with("timeline[]") ? 100 : 1;
        EXPECT_NEAR(shown.get<double>(), scale * *value, 1e-9 * std::abs(scale * *value))
            << table["title"] << ": " << column;
        ++numbers;
      }
    }
  }
  EXPECT_GT(numbers, 300);
}

TEST(ReportCliTest, APageThatABrowserShows) {
  const Outcome made = Kvbench("report rates.json fig2.json micro.json --out report.html");
  if (made.code == 3) {
    EXPECT_THAT(made.err, HasSubstr("install the package libjs-chart.js"));
    GTEST_SKIP() << made.err;
  }
  ASSERT_EQ(made.code, 0) << made.err;
  const std::string page = ReadFile(Folder() / "report.html");
  for (const char* section :
       {"usage", "timeline", "rates", "latency", "block-sizes", "kernels", "paper-fig2"}) {
    EXPECT_THAT(page, HasSubstr("<h2 id=\"" + std::string(section) + "\">"));
  }
  MakePair();
  ASSERT_EQ(Kvbench("report slower.json --base base.json --out verdicts.html").code, 0);
  EXPECT_THAT(ReadFile(Folder() / "verdicts.html"), HasSubstr("<h2 id=\"verdicts\">"));
  const Outcome browser =
      RunShell(Folder(), "'" KVBENCH_BROWSER_TEST "' report.html verdicts.html");
  if (browser.code == kBrowserSkips) {
    GTEST_SKIP() << browser.out;
  }
  EXPECT_EQ(browser.code, 0) << browser.out << browser.err;
}

}  // namespace report_cli
}  // namespace kvbench
