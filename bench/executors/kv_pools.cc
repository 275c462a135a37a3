#include "bench/executors/kv_pools.h"

#include <cstddef>

namespace kvbench {

KvPools::KvPools(const ModelShape& model, KvType type, const KvCache& cache)
    : KvPlacement(model, type, cache) {
  for (int64_t i = 0; i < 2 * model.num_hidden_layers; ++i) {
    arrays_.emplace_back(static_cast<size_t>(array_bytes())).Touch();
    if (type == KvType::kInt8) {
      const int64_t rows = array_elements() / model.head_dim;
      scales_.emplace_back(static_cast<size_t>(rows) * sizeof(float)).Touch();
    }
  }
}

int64_t KvPools::bytes() const {
  int64_t sum = 0;
  for (const std::vector<Buffer>* buffers : {&arrays_, &scales_}) {
    for (const Buffer& buffer : *buffers) {
      sum += static_cast<int64_t>(buffer.size());
    }
  }
  return sum;
}

}  // namespace kvbench
