// What every registered design must hold to. A new line in the design registry is picked up here.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "bench/designs/design_registry.h"

namespace kvbench {
namespace {

struct Held {
  int64_t tokens = 0;
  int64_t final_length = 0;
  int64_t serial = 0;   // of its admission
  int64_t written = 0;  // tokens whose bytes are there
};

/// What stands in every slot: an admission's serial number and a token of it. It follows the
/// operations as an executor does, at the end of each step.
class SlotBytes {
 public:
  explicit SlotBytes(int64_t slots) : slots_(static_cast<size_t>(slots)) {}

  void RunStep(KvCache& cache, std::map<SequenceId, Held>& held) {
    for (const Operation& operation : cache.operations()) {
      ASSERT_LE(operation.tokens, std::min(operation.from.slots, operation.to.slots));
      for (int64_t i = 0; i < operation.tokens; ++i) {
        At(operation.to.first_slot + i) = At(operation.from.first_slot + i);
      }
    }
    for (auto& [id, h] : held) {
      const SlotView view = cache.slots(id);
      for (; h.written < h.tokens; ++h.written) {
        At(view.slot(h.written)) = {h.serial, h.written};
      }
    }
    cache.FinishOperations();
    ASSERT_TRUE(cache.operations().empty());
    for (const auto& [id, h] : held) {
      const SlotView view = cache.slots(id);
      for (int64_t token = 0; token < h.tokens; ++token) {
        ASSERT_EQ(At(view.slot(token)), std::pair(h.serial, token)) << "sequence " << id;
      }
    }
  }

 private:
  std::pair<int64_t, int64_t>& At(int64_t slot) { return slots_.at(static_cast<size_t>(slot)); }
  std::vector<std::pair<int64_t, int64_t>> slots_;
};

class DesignConformanceTest : public testing::TestWithParam<Design> {};

/// Slots of all held tokens: each inside the cache, no two the same, as the cache says.
void ExpectSlotsDisjoint(const KvCache& cache, const std::map<SequenceId, Held>& held) {
  std::set<int64_t> taken;
  for (const auto& [id, h] : held) {
    const SlotView view = cache.slots(id);
    for (int64_t token = 0; token < h.tokens; ++token) {
      const int64_t slot = view.slot(token);
      ASSERT_GE(slot, 0);
      ASSERT_LT(slot, cache.capacity_slots());
      ASSERT_TRUE(taken.insert(slot).second) << "slot " << slot << " holds two tokens";
    }
  }
}

TEST_P(DesignConformanceTest, HoldsItsContractUnderRandomOperations) {
  const Design& design = GetParam();
  for (uint32_t seed = 1; seed <= 12; ++seed) {
    std::mt19937 random(seed);
    const int64_t max_model_len = 16 + static_cast<int64_t>(random() % 600);
    const int64_t slots = max_model_len * 8 + static_cast<int64_t>(random() % 4000);
    const std::unique_ptr<KvCache> cache = design.make({.slots = slots,
                                                        .block_size = 1 << (random() % 9),
                                                        .max_model_len = max_model_len,
                                                        .growth = seed % 2 ? "double" : "concat"});
    SlotBytes bytes(cache->capacity_slots());
    ASSERT_EQ(cache->design(), design.name);
    ASSERT_EQ(cache->block_size() > 0, design.axis == "block-size");
    ASSERT_LE(cache->capacity_slots(), slots);
    ASSERT_EQ(cache->usage().free, cache->capacity_slots());
    std::map<SequenceId, Held> held;
    int64_t live = 0;
    int fits = 0;
    for (int step = 0; step < 3000; ++step) {
      const auto id = static_cast<SequenceId>(random() % 40);
      const Usage before = cache->usage();
      const size_t operations = cache->operations().size();
      const auto found = held.find(id);
      if (found == held.end()) {
        const int64_t prompt =
            1 + static_cast<int64_t>(random() % static_cast<uint64_t>(max_model_len - 1));
        const int64_t output =
            1 + static_cast<int64_t>(random() % static_cast<uint64_t>(max_model_len - prompt));
        const int64_t tokens = 1 + static_cast<int64_t>(random() % static_cast<uint64_t>(prompt));
        const AdmitResult result = cache->Admit({.sequence = id,
                                                 .tokens = tokens,
                                                 .estimate = output,
                                                 .final_length = prompt + output,
                                                 .known = prompt});
        if (result.kind == AdmitResult::Kind::kFits) {
          held[id] = {tokens, prompt + output, step, 0};
          live += tokens;
          ++fits;
        } else {
          ASSERT_EQ(cache->usage(), before) << "a refused admission changed something";
          ASSERT_EQ(cache->operations().size(), operations);
          ASSERT_EQ(result.reason.empty(), result.kind == AdmitResult::Kind::kWait);
        }
      } else if (random() % 4 == 0) {
        // A few tokens for everyone, compared with what a step at a time gives.
        int64_t most = 1 + static_cast<int64_t>(random() % 40);
        for (const auto& [other, h] : held) {
          most = std::min(most, h.final_length - h.tokens);
        }
        const int64_t n = cache->EqualSteps(most);
        ASSERT_GE(n, 0);
        ASSERT_LE(n, most);
        ASSERT_TRUE(n == most || design.preemption != "none");
        ASSERT_TRUE(cache->HasRoom() || n == 0);
        ASSERT_TRUE(cache->acts() || n > 0 || most == 0 || !cache->HasRoom())
            << "without operations, what is not alike has no room";
        const int64_t half = n / 2;
        Usage sum;
        Usage moment;
        const auto add = [&](const UsageSeries& series, int64_t past) {
          for (const auto part : {&Usage::live, &Usage::reserved, &Usage::overestimate,
                                  &Usage::rounding, &Usage::free}) {
            sum.*part += series.sum.*part;
            moment.*part += series.moment.*part + past * (series.sum.*part);
          }
        };
        int64_t expected_live = 0;
        for (int64_t j = 1; j <= n; ++j) {
          expected_live += live + j * static_cast<int64_t>(held.size());
        }
        add(cache->ExtendAll(half), 0);
        ASSERT_EQ(cache->EqualSteps(n - half), n - half);
        for (int64_t j = half; j < n; ++j) {
          const UsageSeries one = cache->ExtendAll(1);
          ASSERT_EQ(one.sum, cache->usage());
          ASSERT_EQ(one.moment, Usage{});
          add(one, j);
        }
        for (auto& [other, h] : held) {
          h.tokens += n;
          live += n;
        }
        ASSERT_EQ(sum.live, expected_live);
        ASSERT_EQ(sum.capacity(), n * cache->capacity_slots());
        ASSERT_EQ(moment.capacity(), n * (n - 1) / 2 * cache->capacity_slots());
      } else if (random() % 5 != 0 && found->second.tokens < found->second.final_length) {
        const int64_t left = found->second.final_length - found->second.tokens;
        const int64_t n = 1 + static_cast<int64_t>(random() % static_cast<uint64_t>(left));
        if (cache->Extend(id, n)) {
          found->second.tokens += n;
          live += n;
        } else {
          ASSERT_EQ(cache->usage(), before) << "a refused extension changed something";
          ASSERT_EQ(cache->operations().size(), operations);
          ASSERT_NE(design.preemption, "none") << "what this design admits must run to its end";
        }
      } else {
        cache->Release(id);
        live -= found->second.tokens;
        held.erase(found);
      }
      const Usage usage = cache->usage();
      ASSERT_EQ(usage.capacity(), cache->capacity_slots());
      ASSERT_EQ(usage.live, live);
      ASSERT_TRUE(usage.reserved >= 0 && usage.overestimate >= 0 && usage.rounding >= 0 &&
                  usage.free >= 0);
      ASSERT_TRUE(cache->acts() || cache->operations().empty());
      if (step % 50 == 0) {
        ExpectSlotsDisjoint(*cache, held);
      }
      if (random() % 8 == 0) {
        ASSERT_NO_FATAL_FAILURE(bytes.RunStep(*cache, held));
        ASSERT_EQ(cache->usage().live, live);
      }
    }
    EXPECT_GT(fits, 50);
    for (const auto& [id, h] : held) {
      cache->Release(id);
    }
    EXPECT_EQ(cache->usage().allocated(), 0);
    EXPECT_EQ(cache->usage().free, cache->capacity_slots());
  }
}

TEST_P(DesignConformanceTest, WhateverDoesNotNeverFitGetsIntoAnEmptyCache) {
  const Design& design = GetParam();
  for (const int64_t slots : {0, 5, 16, 100, 1000, 1616, 5000}) {
    const std::unique_ptr<KvCache> cache =
        design.make({.slots = slots, .block_size = 16, .max_model_len = 1000});
    for (int64_t length = 2; length <= 1000; ++length) {
      const AdmitResult result =
          cache->Admit({.sequence = 0, .tokens = length, .estimate = 1, .final_length = length});
      ASSERT_NE(result.kind, AdmitResult::Kind::kWait) << "it would wait for ever";
      if (result.kind == AdmitResult::Kind::kFits) {
        cache->Release(0);
      }
    }
  }
}

std::vector<Design> DesignsThatHoldACache() {
  std::vector<Design> designs;
  for (const Design& design : Designs()) {
    if (design.holds_cache) {
      designs.push_back(design);
    }
  }
  return designs;
}

INSTANTIATE_TEST_SUITE_P(Designs, DesignConformanceTest, testing::ValuesIn(DesignsThatHoldACache()),
                         [](const testing::TestParamInfo<Design>& design) {
                           std::string name(design.param.name);
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace kvbench
