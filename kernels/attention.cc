#include "kernels/attention.h"

namespace kvbench {

int64_t AttentionKvBytes(const AttentionCall& call) {
  int64_t tokens = 0;
  for (const AttentionSequence& sequence : call.sequences) {
    if (sequence.num_queries > 0) tokens += sequence.context;
  }
  return tokens * 2 * call.num_kv_heads * KvRowBytes(call.kv_type, call.head_dim);
}

}  // namespace kvbench
