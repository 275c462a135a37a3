#include "bench/plan/capacity.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "base/error.h"
#include "bench/designs/design_registry.h"

namespace kvbench {
namespace {

constexpr int64_t kMostSlots = int64_t{1} << 31;
constexpr int64_t kMostExtraDevices = 64;

Admission WholeRequest(const RequestKind& kind, int64_t sequence) {
  return {.sequence = static_cast<SequenceId>(sequence),
          .tokens = kind.context,
          .estimate = kind.output_tokens,
          .final_length = kind.context};
}

/// Slots that one request of the kind takes from a design's cache, 0 where it never fits.
int64_t HeldSlots(const Design& design, DesignParameters parameters, const RequestKind& kind) {
  // Room for the largest chunk, whatever a design rounds to and keeps back.
  const int64_t longest = std::max(kind.context, parameters.max_model_len);
  parameters.slots = 4 * (longest + parameters.block_size + 1024);
  const std::unique_ptr<KvCache> cache = design.make(parameters);
  const bool fits = cache->Admit(WholeRequest(kind, 0)).kind == AdmitResult::Kind::kFits;
  return fits ? cache->usage().allocated() : 0;
}

DesignCapacity CountRequests(const Design& design, const MemoryPlanInput& input,
                             const MemoryPlan& plan, const RequestKind& kind, int64_t limit) {
  DesignParameters parameters = {.block_size = input.block_size,
                                 .max_model_len = input.model_len()};
  DesignCapacity capacity;
  capacity.design = design.name;
  capacity.held_slots = HeldSlots(design, parameters, kind);
  if (capacity.held_slots == 0) {
    return capacity;
  }
  const int64_t slots = SlotsForSequencesOf(input, plan, capacity.held_slots);
  if (slots > kMostSlots) {
    throw Error(
        fmt::format("{} slots of model {} are more than the 2^31 that a cache may have; give less "
                    "--gpu-memory",
                    slots, input.model.name));
  }
  // More slots than twice those of all the requests that are counted change nothing.
  parameters.slots = std::min(slots, 2 * (limit + 2) * capacity.held_slots);
  const std::unique_ptr<KvCache> cache = design.make(parameters);
  while (capacity.requests < limit &&
         cache->Admit(WholeRequest(kind, capacity.requests)).kind == AdmitResult::Kind::kFits) {
    ++capacity.requests;
  }
  capacity.more = capacity.requests == limit;
  return capacity;
}

/// What a design that moves sequences holds depends on which of them grow when.
bool IsCounted(const Design& design) {
  return design.holds_cache && !design.make({.slots = 1024, .max_model_len = 16})->acts();
}

/// Whether some design holds a batch after a change of the input or the kind.
bool Holds(const MemoryPlanInput& input, const RequestKind& kind, int64_t batch) {
  const MemoryPlan plan = PlanMemory(input);
  return std::any_of(Designs().rbegin(), Designs().rend(), [&](const Design& design) {
    return IsCounted(design) && CountRequests(design, input, plan, kind, batch).requests >= batch;
  });
}

std::optional<int64_t> LongestContext(const MemoryPlanInput& input, const RequestKind& kind,
                                      int64_t batch) {
  const auto holds = [&](int64_t context) {
    return Holds(input, {context, std::min(kind.output_tokens, context - 1)}, batch);
  };
  constexpr int64_t kShortest = 2;  // one token of prompt and one of output
  if (kind.context <= kShortest || !holds(kShortest)) {
    return std::nullopt;
  }
  int64_t fits = kShortest;
  int64_t fails = kind.context;
  while (fails - fits > 1) {
    const int64_t middle = fits + (fails - fits) / 2;
    (holds(middle) ? fits : fails) = middle;
  }
  return fits;
}

std::optional<int64_t> FewestDevices(MemoryPlanInput input, const RequestKind& kind,
                                     int64_t batch) {
  for (int64_t more = 0; more < kMostExtraDevices; ++more) {
    ++input.tensor_parallel;
    try {
      DeviceShape(input.model, input.tensor_parallel);
    } catch (const Error&) {
      continue;  // heads that do not divide
    }
    if (Holds(input, kind, batch)) {
      return input.tensor_parallel;
    }
  }
  return std::nullopt;
}

WhatFits FindWhatFits(const MemoryPlanInput& input, const RequestKind& kind, int64_t batch,
                      const std::vector<DesignCapacity>& capacities) {
  WhatFits what;
  for (const DesignCapacity& capacity : capacities) {
    if (capacity.requests > what.batch.value_or(0)) {
      what.batch = capacity.requests;
    }
  }
  what.context = LongestContext(input, kind, batch);
  if (DtypeBytes(input.kv_cache_dtype) > 1) {
    MemoryPlanInput halved = input;
    halved.kv_cache_dtype = Dtype::kFp8;
    if (Holds(halved, kind, batch)) {
      what.kv_cache_dtype = Dtype::kFp8;
    }
  }
  what.tensor_parallel = FewestDevices(input, kind, batch);
  return what;
}

int64_t CheckedProduct(int64_t count, int64_t bytes) {
  if (static_cast<double>(count) * static_cast<double>(bytes) > 0x1p62) {
    throw Error(fmt::format(
        "the KV of a batch of {} is past 2^62 bytes; give a smaller batch or a shorter context",
        count));
  }
  return count * bytes;
}

}  // namespace

std::vector<DesignCapacity> RequestsAtOnce(const MemoryPlanInput& input, const MemoryPlan& plan,
                                           const RequestKind& kind, int64_t limit) {
  std::vector<DesignCapacity> capacities;
  for (const Design& design : Designs()) {
    if (IsCounted(design)) {
      capacities.push_back(CountRequests(design, input, plan, kind, limit));
    }
  }
  return capacities;
}

BatchFit FitBatch(const MemoryPlanInput& input, const MemoryPlan& plan, const RequestKind& kind,
                  int64_t batch, const std::vector<DesignCapacity>& capacities) {
  BatchFit fit;
  fit.batch = batch;
  fit.kv_bytes =
      CheckedProduct(batch, KvBytesForContext(input.model, input.kv_cache_dtype, kind.context));
  const int64_t whole_blocks =
      (kind.context + input.block_size - 1) / input.block_size * input.block_size;
  fit.device_kv_bytes = CheckedProduct(batch, DeviceKvBytes(input, whole_blocks));
  fit.short_by_bytes = std::max(int64_t{0}, fit.device_kv_bytes - plan.kv_bytes);
  for (const DesignCapacity& capacity : capacities) {
    if (capacity.requests >= batch) {
      fit.designs.push_back(capacity.design);
    }
  }
  if (!fit.fits()) {
    fit.what_fits = FindWhatFits(input, kind, batch, capacities);
  }
  return fit;
}

}  // namespace kvbench
