#include "results/table/binding.h"

#include <fmt/format.h>

#include "base/text.h"

namespace kvbench {

AdmissionBound MainBound(const BoundBy& bound_by) {
  if (!bound_by.memory || !bound_by.sequences || !bound_by.tokens || !bound_by.nothing) {
    return AdmissionBound::kUnknown;
  }
  const double held_back = *bound_by.memory + *bound_by.sequences + *bound_by.tokens;
  if (*bound_by.memory >= kMemoryBindsFrom &&
      *bound_by.memory >= kMemoryBindsFromOfHeldBack * held_back) {
    return AdmissionBound::kMemory;
  }
  if (*bound_by.sequences >= *bound_by.tokens && *bound_by.sequences >= *bound_by.nothing) {
    return AdmissionBound::kSequences;
  }
  return *bound_by.tokens >= *bound_by.nothing ? AdmissionBound::kTokens : AdmissionBound::kLoad;
}

std::string WhyMemoryDidNotBind(const RunRecord& run) {
  const Limits& limits = run.limits;
  switch (MainBound(run.bound_by)) {
    case AdmissionBound::kSequences:
      if (limits.max_concurrency && *limits.max_concurrency <= limits.max_num_seqs) {
        return fmt::format("the client kept only {} requests in flight (max_concurrency)",
                           Thousands(*limits.max_concurrency));
      }
      return fmt::format("the sequence cap held requests back (max_num_seqs {})",
                         Thousands(limits.max_num_seqs));
    case AdmissionBound::kTokens:
      return fmt::format("the token budget held requests back (max_num_batched_tokens {})",
                         Thousands(limits.max_num_batched_tokens));
    case AdmissionBound::kLoad:
      return "the load was too small, in most steps no request waited";
    case AdmissionBound::kMemory:
    case AdmissionBound::kUnknown:
      break;
  }
  return "";
}

std::string MemoryNote(const RunRecord& run) {
  const std::string why = WhyMemoryDidNotBind(run);
  return why.empty() ? "" : "memory did not bind: " + why;
}

}  // namespace kvbench
