#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <random>
#include <vector>

#include "bench/design_registry.h"
#include "bench/micro/counters.h"
#include "bench/micro/roof_meter.h"

namespace kvbench::micro {
namespace {

constexpr int32_t kBlockSize = 16;
constexpr int64_t kMaxModelLen = 2048;
constexpr int64_t kRequestTokens = 500;

/// A cache of so many blocks (or as many slots), four fifths of it taken by sequences.
class RunningMix {
 public:
  RunningMix(const Design& design, int64_t blocks)
      : cache_(design.make({.slots = blocks * kBlockSize,
                            .block_size = kBlockSize,
                            .max_model_len = kMaxModelLen})) {}

  KvCache& cache() { return *cache_; }
  int64_t size() const { return static_cast<int64_t>(left_.size()); }
  std::vector<int64_t>& left() { return left_; }  ///< tokens that each sequence still gains

  bool FourFifthsTaken() const {
    return 5 * cache_->usage().allocated() >= 4 * cache_->capacity_slots();
  }

  /// Sequences of random lengths.
  void FillMixed() {
    while (!FourFifthsTaken() && AdmitMixed(static_cast<SequenceId>(left_.size()))) {
    }
  }

  /// Those that do not gain `tokens` more give way to new ones.
  void Replace(int64_t tokens) {
    for (size_t i = 0; i < left_.size(); ++i) {
      if (left_[i] < tokens) {
        cache_->Release(static_cast<SequenceId>(i));
        AdmitMixed(static_cast<SequenceId>(i));
      }
    }
  }

  bool Admit(SequenceId id, int64_t prompt, int64_t output) {
    const AdmitResult result = cache_->Admit(
        {.sequence = id, .tokens = prompt, .estimate = output, .final_length = prompt + output});
    return result.kind == AdmitResult::Kind::kFits;
  }

 private:
  bool AdmitMixed(SequenceId id) {
    const auto prompt = static_cast<int64_t>(16 + random_() % 512);
    const auto output = static_cast<int64_t>(64 + random_() % 960);
    if (!Admit(id, prompt, output)) {
      return false;
    }
    if (static_cast<size_t>(id) == left_.size()) {
      left_.push_back(0);
    }
    left_[static_cast<size_t>(id)] = output;
    return true;
  }

  std::unique_ptr<KvCache> cache_;
  std::vector<int64_t> left_;
  std::mt19937_64 random_{1};
};

/// `steps` steps in which every sequence gains a token; then, with the clock stopped, those near
/// their end are replaced.
template <typename Step>
void Append(benchmark::State& state, const Design& design, int64_t blocks, const Step& step) {
  RunningMix mix(design, blocks);
  mix.FillMixed();
  constexpr int64_t kSteps = 2 * kBlockSize;
  double seconds_of_all = 0;
  int64_t tokens = 0;
  for (auto _ : state) {
    mix.Replace(kSteps);
    const double seconds = SecondsOf([&] {
      for (int64_t i = 0; i < kSteps; ++i) {
        step(mix);
      }
    });
    for (int64_t& left : mix.left()) {
      left -= kSteps;
    }
    seconds_of_all += seconds;
    tokens += kSteps * mix.size();
    state.SetIterationTime(seconds);
  }
  state.counters["ns_per_token"] = 1e9 * seconds_of_all / static_cast<double>(tokens);
  state.counters["sequences"] = static_cast<double>(mix.size());
}

void AppendAll(benchmark::State& state, const Design& design, int64_t blocks) {
  Append(state, design, blocks, [](RunningMix& mix) {
    if (mix.cache().EqualSteps(1) == 1) {
      benchmark::DoNotOptimize(mix.cache().ExtendAll(1));
    }
  });
}

/// The slot of each new token is looked up, as an executor does.
void AppendOne(benchmark::State& state, const Design& design, int64_t blocks) {
  Append(state, design, blocks, [](RunningMix& mix) {
    const auto size = static_cast<SequenceId>(mix.size());
    for (SequenceId id = 0; id < size; ++id) {
      const bool room = mix.cache().Extend(id, 1);
      benchmark::DoNotOptimize(room);
      const SlotView view = mix.cache().slots(id);
      benchmark::DoNotOptimize(view.blocks.empty() ? view.first_slot : view.blocks.back());
    }
  });
}

/// A request of 500 tokens (400 of them the prompt's, all stored, as after its last step) leaves
/// and another comes, in random order among all that the pool holds.
void AdmitRelease(benchmark::State& state, const Design& design, int64_t blocks) {
  RunningMix mix(design, blocks);
  std::vector<SequenceId> order;
  const auto admit = [&](SequenceId id) {
    const AdmitResult result = mix.cache().Admit({.sequence = id,
                                                  .tokens = kRequestTokens,
                                                  .estimate = 100,
                                                  .final_length = kRequestTokens});
    return result.kind == AdmitResult::Kind::kFits;
  };
  while (!mix.FourFifthsTaken() && admit(static_cast<SequenceId>(order.size()))) {
    order.push_back(static_cast<SequenceId>(order.size()));
  }
  std::shuffle(order.begin(), order.end(), std::mt19937(1));
  // Once around, so that the pool's blocks and the sequences' memory are as after a long run.
  for (const SequenceId id : order) {
    mix.cache().Release(id);
    admit(id);
  }
  size_t next = 0;
  double seconds_of_all = 0;
  constexpr int kRequests = 64;
  for (auto _ : state) {
    const double seconds = SecondsOf([&] {
      for (int i = 0; i < kRequests; ++i) {
        const SequenceId id = order[next];
        next = next + 1 < order.size() ? next + 1 : 0;
        mix.cache().Release(id);
        admit(id);
      }
    });
    seconds_of_all += seconds;
    state.SetIterationTime(seconds);
  }
  state.counters["ns_per_request"] =
      1e9 * seconds_of_all / (static_cast<double>(state.iterations()) * kRequests);
  state.counters["sequences"] = static_cast<double>(order.size());
}

}  // namespace

void RegisterBookkeeping() {
  for (const Design& design : Designs()) {
    if (!design.holds_cache) {
      continue;
    }
    for (const int64_t blocks : {1'000, 10'000, 100'000, 1'000'000}) {
      const auto add = [&](const char* what, auto run) {
        benchmark::RegisterBenchmark(
            fmt::format("bookkeeping/{}/{}/blocks:{}", what, design.name, blocks).c_str(), run,
            design, blocks)
            ->UseManualTime()
            ->Unit(benchmark::kMicrosecond);
      };
      add("append_all", AppendAll);
      add("append_one", AppendOne);
      add("admit_release", AdmitRelease);
    }
  }
}

}  // namespace kvbench::micro
