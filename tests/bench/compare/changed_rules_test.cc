// A changed rule of an allocator shows in the exact fields of one modelled run, whichever it is.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "bench/engine/engine.h"
#include "bench/run/record_builder.h"
#include "bench/run/run_once.h"
#include "bench/run/run_plan.h"
#include "bench/run/run_spec.h"
#include "cache/paged_cache.h"
#include "results/compare/compare.h"
#include "results/record/json_writer.h"

namespace kvbench {
namespace {

/// A paged cache whose calls can be bent. Equal steps are taken one by one.
class BentCache : public KvCache {
 public:
  BentCache(int64_t slots, int32_t block_size) : inner_(slots, block_size) {}

  AdmitResult Admit(const Admission& admission) override { return inner_.Admit(admission); }
  bool Extend(SequenceId sequence, int64_t n) override { return inner_.Extend(sequence, n); }
  bool HasRoom() const override { return inner_.HasRoom(); }
  int64_t EqualSteps(int64_t limit) const override { return inner_.EqualSteps(limit); }
  UsageSeries ExtendAll(int64_t n) override { return inner_.ExtendAll(n); }
  void Release(SequenceId sequence) override { inner_.Release(sequence); }
  Usage usage() const override { return inner_.usage(); }
  SlotView slots(SequenceId sequence) const override { return inner_.slots(sequence); }
  int64_t capacity_slots() const override { return inner_.capacity_slots(); }
  int32_t block_size() const override { return inner_.block_size(); }
  std::string_view design() const override { return inner_.design(); }

 protected:
  PagedCache inner_;
};

/// Loses the blocks of one admission until the cache is empty otherwise.
class LeakingCache final : public BentCache {
 public:
  using BentCache::BentCache;
  AdmitResult Admit(const Admission& admission) override {
    AdmitResult result = inner_.Admit(admission);
    held_ += result.kind == AdmitResult::Kind::kFits ? 1 : 0;
    if (held_ == 3 && !leaked_) {
      leaked_ = inner_.Admit({.sequence = kLost, .tokens = 1, .final_length = 1}).kind ==
                AdmitResult::Kind::kFits;
    }
    return result;
  }
  void Release(SequenceId sequence) override {
    inner_.Release(sequence);
    if (--held_ == 0 && leaked_) {
      inner_.Release(kLost);  // the engine would stop the run at its end otherwise
      leaked_ = false;
    }
  }

 private:
  static constexpr SequenceId kLost = 5'000;
  int held_ = 0;
  bool leaked_ = false;
};

/// Admits where the watermark forbids it: by growing, which may use what it keeps free.
class NoWatermarkCache final : public BentCache {
 public:
  using BentCache::BentCache;
  AdmitResult Admit(const Admission& admission) override {
    const AdmitResult result = inner_.Admit(admission);
    if (result.kind != AdmitResult::Kind::kWait) {
      return result;
    }
    // A block first, which leaves the watermark alone where it can; the rest by growing.
    const int64_t first = std::min<int64_t>(admission.tokens, 1);
    Admission small = admission;
    small.tokens = first;
    if (inner_.Admit(small).kind != AdmitResult::Kind::kFits) {
      return AdmitResult::Wait();
    }
    if (!inner_.Extend(admission.sequence, admission.tokens - first)) {
      inner_.Release(admission.sequence);
      return AdmitResult::Wait();
    }
    return AdmitResult::Fits();
  }
};

/// Takes room for one token more than asked for: blocks are rounded up where they are full.
class WrongRoundingCache final : public BentCache {
 public:
  using BentCache::BentCache;
  AdmitResult Admit(const Admission& admission) override {
    Admission more = admission;
    more.tokens = std::min(admission.tokens + 1, admission.final_length);
    return inner_.Admit(more);
  }
};

PlannedRun Planned() {
  AxisValues axes = {{"executor", {"modelled"}},
                     {"hardware", {"a100-sxm4-40gb"}},
                     {"model", {"opt-13b"}},
                     {"lengths", {"sharegpt"}},
                     {"requests", {"200"}},
                     {"rate", {"4"}},
                     {"seed", {"1"}},
                     {"design", {"paged"}}};
  return PlanRuns(ExpandRuns(axes)).front();
}

RunRecord RunOn(const PlannedRun& run, KvCache& cache) {
  ModelledExecutor executor(run.machine->model);
  const std::unique_ptr<RequestSource> requests = run.trace->Open();
  EngineOptions options;
  options.metrics.exact_percentiles = false;
  FinishedRun finished{.run = run,
                       .cache = cache,
                       .metrics = Metrics({}),
                       .measured = nullptr,
                       .trace_sha256 = std::string(64, '0')};
  EngineResult result = RunEngine(*requests, run.spec.limits, cache, executor, options);
  finished.metrics = std::move(result.metrics);
  return BuildRecord(finished);
}

template <typename Cache>
RunRecord RunWith(const PlannedRun& run) {
  Cache cache(run.slots, run.spec.block_size);
  return RunOn(run, cache);
}

Comparison Compare(const RunRecord& base, const RunRecord& next) {
  const auto parsed = [](const char* name, const RunRecord& record) {
    ResultsFile file;
    file.runs = {record};
    return ParseComparedFile(ResultsJson(file), name);
  };
  return CompareFiles(parsed("base.json", base), parsed("new.json", next), {});
}

std::string Changes(const Comparison& comparison) {
  std::string text;
  for (const FieldChange& change : comparison.runs[0].changes) {
    text += change.name + ": " + change.base + " -> " + change.next + "\n";
  }
  return text;
}

template <typename Cache>
void ExpectChanged() {
  const PlannedRun run = Planned();
  const RunRecord base = RunWith<BentCache>(run);
  EXPECT_GT(base.preemptions, 0);  // memory binds, so that rules matter
  const Comparison comparison = Compare(base, RunWith<Cache>(run));
  EXPECT_EQ(comparison.runs[0].verdict, Verdict::kChanged) << Changes(comparison);
  EXPECT_TRUE(comparison.failed());
}

TEST(ChangedRulesTest, TheSameRulesAreTheSame) {
  const PlannedRun run = Planned();
  const Comparison comparison = Compare(RunWith<BentCache>(run), RunWith<BentCache>(run));
  EXPECT_EQ(comparison.runs[0].verdict, Verdict::kSame) << Changes(comparison);
  // And the wrapper changes nothing by itself.
  RunRecord plain = *RunOnce(run, {});
  plain.trace.sha256 = std::string(64, '0');
  RunRecord wrapped = RunWith<BentCache>(run);
  wrapped.label = plain.label;
  EXPECT_EQ(Compare(plain, wrapped).runs[0].verdict, Verdict::kSame);
}

TEST(ChangedRulesTest, ALeakedBlockIsFound) { ExpectChanged<LeakingCache>(); }

TEST(ChangedRulesTest, AWatermarkThatIsOffIsFound) { ExpectChanged<NoWatermarkCache>(); }

TEST(ChangedRulesTest, AWrongRoundingIsFound) { ExpectChanged<WrongRoundingCache>(); }

}  // namespace
}  // namespace kvbench
