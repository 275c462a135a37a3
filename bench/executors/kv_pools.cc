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

void KvPools::Copy(const Operation& operation, ThreadPool& pool) {
  ListCopies(operation, pairs_);
  const int64_t rows = copy_elements() / head_dim();
  const auto copy = [&](std::vector<Buffer>& buffers, int64_t row_bytes) {
    pointers_.clear();
    for (Buffer& buffer : buffers) {
      pointers_.push_back(buffer.as<void>());
    }
    CopyBlocks(pool, pointers_, rows * row_bytes, pairs_);
  };
  copy(arrays_, int64_t{head_dim()} * KvTypeBytes(type()));
  copy(scales_, sizeof(float));
}

void KvPools::AppendRow(int64_t layer, int64_t element, std::vector<uint8_t>& bytes) const {
  const auto append = [&](const std::vector<Buffer>& buffers, int64_t row_bytes) {
    for (size_t array = 0; array < 2 && !buffers.empty(); ++array) {
      const auto* const row = buffers[static_cast<size_t>(2 * layer) + array].as<uint8_t>() +
                              element / head_dim() * row_bytes;
      bytes.insert(bytes.end(), row, row + row_bytes);
    }
  };
  append(arrays_, int64_t{head_dim()} * KvTypeBytes(type()));
  append(scales_, sizeof(float));
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
