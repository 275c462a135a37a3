#pragma once

#include <string>

#include "results/record/record.h"

namespace kvbench {

/// What mainly kept waiting requests out of a run.
enum class AdmissionBound {
  kMemory,     ///< the cache was full: the designs differ
  kSequences,  ///< max_num_seqs or max_concurrency
  kTokens,     ///< max_num_batched_tokens
  kLoad,       ///< mostly nothing waited
  kUnknown,    ///< no steps
};

/// Memory binds from these shares on: of all steps, and of those that anything held back. Few steps
/// suffice, since a step with a prompt in it is long and a burst of arrivals short: 1.5 % of the
/// steps have made the mean time in the queue six times as long. Below, no mean shows what the
/// designs waste.
inline constexpr double kMemoryBindsFrom = 0.01;
inline constexpr double kMemoryBindsFromOfHeldBack = 0.1;

/// kMemory where memory binds, whatever else held requests back as well; else the largest of the
/// others.
AdmissionBound MainBound(const BoundBy& bound_by);

/// For a table or the record's notes: why memory did not bind in this run, in words that follow
/// "memory did not bind: "; empty where it did or where nobody knows.
std::string WhyMemoryDidNotBind(const RunRecord& run);

/// The whole sentence for the record's notes; empty where memory bound.
std::string MemoryNote(const RunRecord& run);

}  // namespace kvbench
