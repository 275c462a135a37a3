#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/plan/memory_plan.h"

namespace kvbench {

/// Requests of one kind: `context` tokens when they end, `output_tokens` of them generated.
/// Precondition: 1 <= output_tokens < context.
struct RequestKind {
  int64_t context = 0;
  int64_t output_tokens = 0;
};

/// How many requests of a kind are in a design's cache at once, each with all its tokens.
struct DesignCapacity {
  std::string design;
  int64_t requests = 0;
  bool more = false;       ///< counting stopped at the limit
  int64_t held_slots = 0;  ///< of each request; 0 where the design never takes one
};

/// Counting stops there; more than that is no answer that anybody needs.
inline constexpr int64_t kMostRequests = 100'000;

/// Admits requests into the caches that the design registry makes, until each says wait or `limit`
/// are in: the bookkeeping of every run. Throws Error past 2^31 slots.
std::vector<DesignCapacity> RequestsAtOnce(const MemoryPlanInput& input, const MemoryPlan& plan,
                                           const RequestKind& kind, int64_t limit = kMostRequests);

/// The changes, each alone, after which some design holds a batch. Empty ones do not help.
struct WhatFits {
  std::optional<int64_t> context;          ///< the longest for this batch
  std::optional<int64_t> batch;            ///< the largest of this context
  std::optional<Dtype> kv_cache_dtype;     ///< of 8 bits
  std::optional<int64_t> tensor_parallel;  ///< the fewest devices, at most 64 more
};

/// A batch of requests of one kind, all with their whole context.
struct BatchFit {
  int64_t batch = 0;
  int64_t kv_bytes = 0;              ///< of all its tokens, each held once
  int64_t device_kv_bytes = 0;       ///< on one device, in whole blocks
  int64_t short_by_bytes = 0;        ///< that this is more than the plan's KV cache
  std::vector<std::string> designs;  ///< that hold it at once, by the registry's order
  WhatFits what_fits;                ///< where no design holds it

  bool fits() const { return !designs.empty(); }
};

/// `capacities` are those of RequestsAtOnce for the kind, counted up to `batch` at least. Throws
/// Error where the bytes are past 2^62.
BatchFit FitBatch(const MemoryPlanInput& input, const MemoryPlan& plan, const RequestKind& kind,
                  int64_t batch, const std::vector<DesignCapacity>& capacities);

/// Half of a context, rounded up: the output of a request where nothing else is said.
inline int64_t HalfOf(int64_t context) { return (context + 1) / 2; }

}  // namespace kvbench
