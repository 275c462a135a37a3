#include "results/compare/compare.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "results/compare/exact_fields.h"
#include "tests/results/compare/compare_case.h"

namespace kvbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

using CompareTest = CompareCase;

TEST_F(CompareTest, AFileIsTheSameAsItself) {
  const Comparison modelled = Compare(Modelled(), Modelled());
  EXPECT_EQ(modelled.Count(Verdict::kSame), 4);
  EXPECT_FALSE(modelled.failed());
  const Comparison measured = Compare(Repeated(9, 1), Repeated(9, 1));
  EXPECT_EQ(measured.Count(Verdict::kSame), 1);
  EXPECT_EQ(measured.runs[0].timings[0].slowdown, 1);
}

TEST_F(CompareTest, EveryFieldOfAModelledRunMustBeEqual) {
  const auto changed = [&](const std::function<void(RunRecord&)>& change) {
    ResultsFile next = Modelled();
    change(next.runs[3]);
    const Comparison comparison = Compare(Modelled(), next);
    EXPECT_EQ(comparison.Count(Verdict::kSame), 3);
    EXPECT_EQ(comparison.runs[3].verdict, Verdict::kChanged);
    EXPECT_TRUE(comparison.failed());
    std::vector<std::string> names;
    for (const FieldChange& field : comparison.runs[3].changes) {
      names.push_back(field.name + " " + field.base + " " + field.next);
    }
    return names;
  };
  EXPECT_THAT(changed([](RunRecord& run) { run.completed = 93; }), ElementsAre("completed 94 93"));
  EXPECT_THAT(changed([](RunRecord& run) { run.preemptions = 13; }),
              ElementsAre("preemptions 12 13"));
  EXPECT_THAT(changed([](RunRecord& run) { ++run.kv.peak_allocated_slots; }),
              ElementsAre("kv.peak_allocated_slots 3936 3937"));
  EXPECT_THAT(
      changed([](RunRecord& run) { run.kv.usage_per_step->rounding = 0.03125000000000001; }),
      ElementsAre("kv.usage_per_step.rounding 0.03125 0.03125000000000001"));
  EXPECT_THAT(changed([](RunRecord& run) { run.duration = 13.625; }),
              ElementsAre("duration 13.5 13.625"));
  EXPECT_THAT(changed([](RunRecord& run) { run.ttft["p99"] = 1; }),
              ElementsAre(HasSubstr("p99_ttft_ms")));
  EXPECT_THAT(changed([](RunRecord& run) { run.goodput = 1; }), ElementsAre("goodput null 1.0"));
  EXPECT_EQ(changed([](RunRecord& run) { run.kv.usage_over_time.reset(); }).size(), 6);
}

TEST_F(CompareTest, NotesSamplesAndTimelinesAreNoResults) {
  ResultsFile next = Modelled();
  next.runs[3].notes.clear();
  next.runs[3].samples.requests.reset();
  next.runs[3].timeline.clear();
  next.runs[3].executor.repetitions = 4;
  next.runs[3].trace.source = "another path";
  EXPECT_EQ(Compare(Modelled(), next).Count(Verdict::kSame), 4);
}

TEST_F(CompareTest, CountsOfAMeasuredRunMustBeEqualAndTimesNeedNot) {
  const auto verdict = [&](const std::function<void(RunRecord&)>& change) {
    ResultsFile next = Repeated(9, 1);
    for (RunRecord& run : next.runs) {
      change(run);
    }
    return Compare(Repeated(9, 1), next).runs[0].verdict;
  };
  EXPECT_EQ(verdict([](RunRecord& run) { run.steps += 1; }), Verdict::kChanged);
  EXPECT_EQ(verdict([](RunRecord& run) { run.kv.usage_per_step->live = 0.9; }), Verdict::kChanged);
  EXPECT_EQ(verdict([](RunRecord& run) { run.verification->passed = false; }), Verdict::kChanged);
  EXPECT_EQ(verdict([](RunRecord& run) { run.bound_by.memory = 0.5; }), Verdict::kChanged);
  EXPECT_EQ(verdict([](RunRecord& run) { run.kv.usage_over_time->live = 0.9; }), Verdict::kSame);
  EXPECT_EQ(verdict([](RunRecord& run) { run.itl["p95"] = 7; }), Verdict::kSame);
  EXPECT_EQ(verdict([](RunRecord& run) { run.phases->dense = 7; }), Verdict::kSame);
  EXPECT_EQ(verdict([](RunRecord& run) { run.verification->max_relative_error = 1e-7; }),
            Verdict::kSame);
}

TEST_F(CompareTest, TimedArrivalsShareWhatTheyWereAskedFor) {
  const auto verdict = [&](const std::function<void(RunRecord&)>& change) {
    ResultsFile base = Repeated(9, 1);
    ResultsFile next = Repeated(9, 1);
    for (ResultsFile* file : {&base, &next}) {
      for (RunRecord& run : file->runs) {
        run.trace.request_rate = 4;
      }
    }
    for (RunRecord& run : next.runs) {
      change(run);
    }
    return Compare(base, next).runs[0].verdict;
  };
  EXPECT_EQ(verdict([](RunRecord& run) { run.steps += 1; }), Verdict::kSame);
  EXPECT_EQ(verdict([](RunRecord& run) { run.preemptions += 1; }), Verdict::kSame);
  EXPECT_EQ(verdict([](RunRecord& run) { run.completed -= 1; }), Verdict::kChanged);
  EXPECT_EQ(verdict([](RunRecord& run) { run.rejected += 1; }), Verdict::kChanged);
  EXPECT_EQ(verdict([](RunRecord& run) { run.design.capacity_slots += 16; }), Verdict::kChanged);
  EXPECT_EQ(verdict([](RunRecord& run) { run.trace.sha256[20] = 'f'; }), Verdict::kChanged);
  // Throughput is that of the arrivals: latency is what is compared.
  EXPECT_EQ(verdict([](RunRecord& run) { *run.output_throughput /= 2; }), Verdict::kSame);
  EXPECT_EQ(verdict([](RunRecord& run) { *run.normalized_latency_mean_s_per_token *= 2; }),
            Verdict::kSlower);
}

TEST_F(CompareTest, ARunPredictedOnThisCpuHasCountsAlone) {
  ResultsFile base = Modelled();
  for (RunRecord& run : base.runs) {
    run.executor.hardware = "cpu";
  }
  ResultsFile next = base;
  next.runs[0].duration *= 2;
  next.runs[0].executor.roofs = MeasuredRoofs{1e10, 0.1, 1e11};
  EXPECT_EQ(Compare(base, next).Count(Verdict::kSame), 4);
  next.runs[0].steps += 1;
  EXPECT_EQ(Compare(base, next).runs[0].verdict, Verdict::kChanged);
}

TEST_F(CompareTest, SlowerTakesARatioBeyondTheThresholdAndAnIntervalThatDoesNotReachIt) {
  const auto verdict = [&](double factor, double spread, double threshold = 0.05) {
    return Compare(Repeated(9, 1, spread), Repeated(9, factor, spread), {.threshold = threshold})
        .runs[0]
        .verdict;
  };
  EXPECT_EQ(verdict(1.10, 0.01), Verdict::kSlower);
  EXPECT_EQ(verdict(1.10, 0.10), Verdict::kUndecided);
  EXPECT_EQ(verdict(1.01, 0.01), Verdict::kSame);
  EXPECT_EQ(verdict(1.04, 0.03), Verdict::kUndecided);
  EXPECT_EQ(verdict(0.90, 0.01), Verdict::kFaster);
  EXPECT_EQ(verdict(1.10, 0.01, 0.2), Verdict::kSame);
  EXPECT_EQ(verdict(1.03, 0.001, 0.01), Verdict::kSlower);
}

TEST_F(CompareTest, TooFewRepetitionsAreSaidNotPassed) {
  const Comparison comparison = Compare(Repeated(3, 1), Repeated(9, 2));
  EXPECT_EQ(comparison.runs[0].verdict, Verdict::kUndecided);
  EXPECT_EQ(comparison.runs[0].timings[0].why, "needs 9 repetitions, has 3");
  EXPECT_FALSE(comparison.failed());
}

TEST_F(CompareTest, OtherDaysAreComparedAsSharesOfTheRoofs) {
  const auto compare = [&](double factor, double roof, std::optional<double> spread,
                           bool absolute = false) {
    ResultsFile next = Repeated(9, factor);
    next.run_info.started_at = "2025-02-01T12:00:00Z";
    next.environment.read_roof_bytes_per_s = roof;
    next.environment.read_roof_spread = spread;
    ResultsFile base = Repeated(9, 1);
    base.environment.read_roof_spread = 0.01;
    return Compare(base, next, {.absolute = absolute}).runs[0];
  };
  // Twice as long on a machine that reads half as fast is the same share.
  EXPECT_EQ(compare(2, 1.25e10, 0.01).verdict, Verdict::kSame);
  EXPECT_TRUE(compare(2, 1.25e10, 0.01).timings[0].shares);
  EXPECT_EQ(compare(2, 2.5e10, 0.01).verdict, Verdict::kSlower);
  EXPECT_EQ(compare(2, 5.0e10, 0.01).verdict, Verdict::kSlower);
  EXPECT_EQ(compare(1, 1.25e10, 0.01).verdict, Verdict::kFaster);
  // An effect within the spread of the roofs says nothing.
  const RunComparison wide = compare(1.2, 2.5e10, 0.4);
  EXPECT_EQ(wide.verdict, Verdict::kUndecided);
  EXPECT_THAT(wide.timings[0].why, HasSubstr("vary by 41 %"));
  EXPECT_EQ(compare(2, 2.5e10, 0.4).verdict, Verdict::kSlower);
  // --absolute insists.
  EXPECT_EQ(compare(2, 1.25e10, 0.01, true).verdict, Verdict::kSlower);
}

TEST_F(CompareTest, AnotherMachineOfTheSameKindOnTheSameDayIsAnother) {
  ResultsFile next = Repeated(9, 2);
  next.environment.read_roof_bytes_per_s = 1.25e10;
  EXPECT_FALSE(Compare(Repeated(9, 1), next).runs[0].timings[0].shares);
  next.environment.boot_id = "00000000-0000-4000-8000-000000000002";
  EXPECT_TRUE(Compare(Repeated(9, 1), next).runs[0].timings[0].shares);
  next.environment.boot_id.reset();  // a file from before there were any
  EXPECT_TRUE(Compare(Repeated(9, 1), next).runs[0].timings[0].shares);
}

TEST_F(CompareTest, OtherDaysWithoutARoofAreUndecided) {
  ResultsFile next = Repeated(9, 2);
  next.run_info.started_at = "2025-02-01T12:00:00Z";
  next.environment.read_roof_bytes_per_s.reset();
  const RunComparison run = Compare(Repeated(9, 1), next).runs[0];
  EXPECT_EQ(run.verdict, Verdict::kUndecided);
  EXPECT_THAT(run.timings[0].why, HasSubstr("--absolute"));
  EXPECT_EQ(Compare(Repeated(9, 1), next, {.absolute = true}).runs[0].verdict, Verdict::kSlower);
}

TEST_F(CompareTest, RunsInOneFileOnlyAreNamed) {
  ResultsFile base = Modelled();
  ResultsFile next = Modelled();
  base.runs.erase(base.runs.begin());
  next.runs.pop_back();
  const Comparison comparison = Compare(base, next);
  EXPECT_EQ(comparison.Count(Verdict::kOnlyInBase), 1);
  EXPECT_EQ(comparison.Count(Verdict::kOnlyInNew), 1);
  EXPECT_EQ(comparison.Count(Verdict::kSame), 2);
  EXPECT_FALSE(comparison.failed());
}

TEST_F(CompareTest, MetricsAreChosenByName) {
  ResultsFile next = Repeated(9, 1);
  for (RunRecord& run : next.runs) {
    *run.ttft["mean"] *= 1.5;
  }
  const Comparison comparison =
      Compare(Repeated(9, 1), next, {.metrics = {"output_throughput", "mean_ttft_ms"}});
  ASSERT_EQ(comparison.runs[0].timings.size(), 2);
  EXPECT_EQ(comparison.runs[0].timings[0].verdict, Verdict::kSame);
  EXPECT_EQ(comparison.runs[0].timings[1].verdict, Verdict::kSlower);
  EXPECT_EQ(comparison.runs[0].verdict, Verdict::kSlower);
  EXPECT_THROW(Compare(Repeated(9, 1), next, {.metrics = {"speed"}}), Error);
}

TEST_F(CompareTest, ANewerMinorVersionMayKnowMore) {
  nlohmann::ordered_json json = nlohmann::ordered_json::parse(ResultsJson(Modelled()));
  json["schema_version"] = "1.9";
  for (auto& run : json["runs"]) {
    run["shared_slots"] = 7;
    run["kv"]["shared"] = nullptr;
  }
  const ComparedFile base = Parsed(Modelled(), "base.json");
  const ComparedFile next = ParseComparedFile(json.dump(), "new.json");
  EXPECT_EQ(CompareFiles(base, next, {}).Count(Verdict::kSame), 4);
  EXPECT_EQ(CompareFiles(next, base, {}).Count(Verdict::kSame), 4);
  json["schema_version"] = ResultsFile::kSchemaVersion;
  const ComparedFile same_version = ParseComparedFile(json.dump(), "same.json");
  EXPECT_EQ(CompareFiles(base, same_version, {}).Count(Verdict::kChanged), 4);
  EXPECT_EQ(CompareFiles(same_version, base, {}).Count(Verdict::kChanged), 4);
}

TEST_F(CompareTest, MixedFilesAreRefused) {
  const auto message = [&](const ResultsFile& base, const ResultsFile& next) {
    try {
      Compare(base, next);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("nothing");
  };
  ResultsFile other = Modelled();
  other.run_info.suite = "ci";
  EXPECT_THAT(message(Modelled(), other), HasSubstr("suite quick"));
  other = Modelled();
  for (RunRecord& run : other.runs) {
    run.label += " x=1";
  }
  EXPECT_THAT(message(Modelled(), other), HasSubstr("no run in common"));
}

TEST_F(CompareTest, ShortNamesTellRunsApart) {
  EXPECT_THAT(ShortNames({"model=a design=paged block-size=1 seed=0 watermark=0.01",
                          "model=a design=paged block-size=16 seed=0 watermark=0.01",
                          "model=a design=contiguous-max block-size=none seed=0 watermark=0"}),
              ElementsAre("a paged block-size=1", "a paged block-size=16", "a contiguous-max"));
  EXPECT_THAT(
      ShortNames({"model=a design=paged watermark=0.01", "model=a design=paged watermark=0"}),
      ElementsAre("a paged watermark=0.01", "a paged watermark=0"));
  EXPECT_THAT(ShortNames({"decode/paged/float16"}), ElementsAre("decode/paged/float16"));
}

}  // namespace
}  // namespace kvbench
