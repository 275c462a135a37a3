#pragma once

#include <cstdint>

namespace kvbench {

/// Who picks what runs in the next step.
enum class SchedulerKind {
  kContinuous,         ///< iteration level: sequences come and go between steps
  kStatic,             ///< whole batches, padded: the Hugging Face pipeline
  kFasterTransformer,  ///< whole batches without padding
};

/// What a run may do in one step and at one time: the same for every design of a comparison.
struct EngineLimits {
  SchedulerKind scheduler = SchedulerKind::kContinuous;
  int64_t max_num_seqs = 256;  ///< running sequences
  int64_t max_num_batched_tokens =
      2560;                      ///< tokens of a step: a decode counts 1, a prompt its length
  int64_t max_model_len = 2048;  ///< P + O of a request
  int64_t max_concurrency =
      0;  ///< requests that a closed-loop client keeps in flight, 0: open loop
  bool chunked_prefill = true;  ///< a prompt may be spread over several steps
};

}  // namespace kvbench
