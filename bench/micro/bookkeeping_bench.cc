#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "bench/designs/design_registry.h"
#include "bench/micro/counters.h"
#include "bench/micro/roof_meter.h"

namespace kvbench::micro {
namespace {

constexpr int32_t kBlockSize = 16;
constexpr int64_t kMaxModelLen = 2048;
constexpr int64_t kRequestTokens = 500;
/// The sequence cap that runs have unless told otherwise, and a cap that caps nothing.
constexpr int64_t kDefaultCap = 256;
constexpr int64_t kNoCap = int64_t{1} << 30;

std::unique_ptr<KvCache> MakeCache(const Design& design, int64_t blocks) {
  return design.make(
      {.slots = blocks * kBlockSize, .block_size = kBlockSize, .max_model_len = kMaxModelLen});
}

bool Admit(KvCache& cache, SequenceId id, int64_t tokens, int64_t prompt, int64_t output) {
  const AdmitResult result = cache.Admit(
      {.sequence = id, .tokens = tokens, .estimate = output, .final_length = prompt + output});
  return result.kind == AdmitResult::Kind::kFits;
}

/// Sequences of random lengths, each somewhere on its way: as many as nine tenths of the pool hold
/// at their full length, `most` at most. One that ends is followed by one like it.
class RunningMix {
 public:
  RunningMix(const Design& design, int64_t blocks, int64_t most)
      : cache_(MakeCache(design, blocks)) {
    std::mt19937_64 random(1);
    const auto between = [&](int64_t low, int64_t high) {
      return low + static_cast<int64_t>(random() % static_cast<uint64_t>(high - low + 1));
    };
    for (int64_t slots = cache_->capacity_slots() / 10 * 9; size() < most;) {
      Member member{.prompt = between(16, 512), .output = between(64, 1024)};
      member.left = between(0, member.output);
      slots -= member.prompt + member.output + kBlockSize;
      if (slots < 0 ||
          !Admit(*cache_, static_cast<SequenceId>(members_.size()),
                 member.prompt + member.output - member.left, member.prompt, member.output)) {
        break;
      }
      members_.push_back(member);
    }
  }

  KvCache& cache() { return *cache_; }
  int64_t size() const { return static_cast<int64_t>(members_.size()); }

  /// Everyone is about to gain so many tokens: who has not so many left begins again.
  void Renew(int64_t tokens) {
    for (size_t i = 0; i < members_.size(); ++i) {
      Member& member = members_[i];
      if (member.left < tokens) {
        const auto id = static_cast<SequenceId>(i);
        cache_->Release(id);
        Admit(*cache_, id, member.prompt, member.prompt, member.output);
        member.left = member.output;
      }
      member.left -= tokens;
    }
  }

 private:
  struct Member {
    int64_t prompt = 0;
    int64_t output = 0;
    int64_t left = 0;  // tokens that it still gains
  };

  std::unique_ptr<KvCache> cache_;
  std::vector<Member> members_;  // by SequenceId
};

/// `steps` steps in which every sequence gains a token; then, with the clock stopped, those near
/// their end are replaced.
template <typename Step>
void Append(benchmark::State& state, const Design& design, int64_t blocks, int64_t most,
            const Step& step) {
  RunningMix mix(design, blocks, most);
  constexpr int64_t kSteps = 2 * kBlockSize;
  double seconds_of_all = 0;
  int64_t tokens = 0;
  for (auto _ : state) {
    mix.Renew(kSteps);
    const double seconds = SecondsOf([&] {
      for (int64_t i = 0; i < kSteps; ++i) {
        step(mix);
      }
    });
    seconds_of_all += seconds;
    tokens += kSteps * mix.size();
    state.SetIterationTime(seconds);
  }
  state.counters["ns_per_token"] = 1e9 * seconds_of_all / static_cast<double>(tokens);
  state.counters["sequences"] = static_cast<double>(mix.size());
}

void AppendAll(benchmark::State& state, const Design& design, int64_t blocks, int64_t most) {
  Append(state, design, blocks, most,
         [](RunningMix& mix) { benchmark::DoNotOptimize(mix.cache().ExtendAll(1)); });
}

/// The slot of each new token is looked up, as an executor does.
void AppendOne(benchmark::State& state, const Design& design, int64_t blocks, int64_t most) {
  Append(state, design, blocks, most, [](RunningMix& mix) {
    const auto size = static_cast<SequenceId>(mix.size());
    for (SequenceId id = 0; id < size; ++id) {
      const bool room = mix.cache().Extend(id, 1);
      benchmark::DoNotOptimize(room);
      const SlotView view = mix.cache().slots(id);
      benchmark::DoNotOptimize(view.blocks.empty() ? view.first_slot : view.blocks.back());
    }
  });
}

/// A request of 500 tokens leaves and another comes, in random order among all that the pool holds.
void AdmitRelease(benchmark::State& state, const Design& design, int64_t blocks, int64_t most) {
  const std::unique_ptr<KvCache> cache = MakeCache(design, blocks);
  std::vector<SequenceId> order;
  const auto admit = [&](SequenceId id) {
    return Admit(*cache, id, kRequestTokens, kRequestTokens - 100, 100);
  };
  while (static_cast<int64_t>(order.size()) < most &&
         10 * cache->usage().allocated() < 9 * cache->capacity_slots() &&
         admit(static_cast<SequenceId>(order.size()))) {
    order.push_back(static_cast<SequenceId>(order.size()));
  }
  std::shuffle(order.begin(), order.end(), std::mt19937(1));
  // Once around, so that the pool's blocks and the sequences' memory are as after a long run.
  for (const SequenceId id : order) {
    cache->Release(id);
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
        cache->Release(id);
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
    // Nobody is preempted here, nor are operations done: not for those who may find no room to
    // move.
    if (!design.holds_cache || MakeCache(design, 1)->acts()) {
      continue;
    }
    for (const int64_t most : {kDefaultCap, kNoCap}) {
      for (const int64_t blocks : {1'000, 10'000, 100'000, 1'000'000}) {
        const auto add = [&](const char* what, auto run, int64_t iterations) {
          const auto name =
              fmt::format("bookkeeping/{}/{}/blocks:{}/sequences:{}", what, design.name, blocks,
                          most == kNoCap ? "all" : std::to_string(most));
          benchmark::RegisterBenchmark(name.c_str(), run, design, blocks, most)
              ->UseManualTime()
              ->Iterations(iterations)
              ->Unit(benchmark::kMicrosecond);
        };
        // Fixed, because what a design does in nanoseconds would be repeated, and the mix renewed
        // between, for minutes.
        const int64_t appends = std::clamp<int64_t>(10'000'000 / blocks, 20, 1000);
        add("append_all", AppendAll, appends);
        add("append_one", AppendOne, appends);
        add("admit_release", AdmitRelease, 1000);
      }
    }
  }
}

}  // namespace kvbench::micro
