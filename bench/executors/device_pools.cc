#include "bench/executors/device_pools.h"

namespace kvbench {

DevicePools::DevicePools(Device& device, const ModelShape& model, KvType type, const KvCache& cache)
    : KvPlacement(model, type, cache) {
  for (int64_t layer = 0; layer < model.num_hidden_layers; ++layer) {
    arrays_.emplace_back(device, array_bytes(), "K pool");
    arrays_.emplace_back(device, array_bytes(), "V pool");
  }
}

}  // namespace kvbench
