#pragma once

#include <string>

#include "results/record.h"

namespace kvbench {

/// What mainly kept waiting requests out of a run.
enum class AdmissionBound {
  kMemory,     ///< the cache was full: the designs differ
  kSequences,  ///< max_num_seqs or max_concurrency
  kTokens,     ///< max_num_batched_tokens
  kLoad,       ///< mostly nothing waited
  kUnknown,    ///< no steps
};

/// The share of steps held back by memory from which a run says something about its design. Below
/// it, memory mattered in a start or a short burst only, and what the designs waste hardly shows in
/// any mean.
inline constexpr double kMemoryBindsFrom = 0.1;

/// kMemory from kMemoryBindsFrom on, whatever else held requests back as well; else the largest of
/// the others.
AdmissionBound MainBound(const BoundBy& bound_by);

/// For a table or the record's notes: why memory did not bind in this run, in words that follow
/// "memory did not bind: "; empty where it did or where nobody knows.
std::string WhyMemoryDidNotBind(const RunRecord& run);

/// The whole sentence for the record's notes; empty where memory bound.
std::string MemoryNote(const RunRecord& run);

}  // namespace kvbench
