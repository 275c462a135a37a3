#include "bench/executors/device_copies.h"

#include <array>

namespace kvbench {

namespace {

/// Elements of arrays_ and moves_.
std::array<int64_t, 2> Counts(const KvPlacement& placement, int64_t num_layers,
                              int64_t max_tokens) {
  return {2 * num_layers, placement.MostCopies(max_tokens)};
}

}  // namespace

int64_t DeviceCopies::Bytes(const KvPlacement& placement, int64_t num_layers, int64_t max_tokens,
                            int64_t unit) {
  const auto [arrays, moves] = Counts(placement, num_layers, max_tokens);
  const auto whole = [&](int64_t bytes) { return (bytes + unit - 1) / unit * unit; };
  return whole(arrays * static_cast<int64_t>(sizeof(uint8_t*))) +
         whole(moves * static_cast<int64_t>(sizeof(BlockMove)));
}

DeviceCopies::DeviceCopies(Device& device, const DevicePools& pools, int64_t num_layers,
                           int64_t max_tokens)
    : device_(device), pools_(pools), kernel_(device.kernel("block_copy")) {
  const auto [arrays, moves] = Counts(pools, num_layers, max_tokens);
  arrays_ = {device, arrays, "pointers to the KV pools"};
  moves_ = {device, moves, "moves of an operation"};
  std::vector<uint8_t*> pointers;
  for (int64_t layer = 0; layer < num_layers; ++layer) {
    pointers.push_back(static_cast<uint8_t*>(pools.k(layer)));
    pointers.push_back(static_cast<uint8_t*>(pools.v(layer)));
  }
  arrays_.Upload(pointers);
}

void DeviceCopies::Run(const Operation& operation) {
  pools_.ListCopies(operation, pairs_);
  host_moves_.clear();
  for (const BlockPair& pair : pairs_) {
    host_moves_.push_back({.from = pair.source, .to = pair.target});
  }
  moves_.Upload(host_moves_);
  const BlockCopyParams params = {
      .moves = moves_.data(),
      .pools = arrays_.data(),
      .block_bytes = pools_.copy_elements() * KvTypeBytes(pools_.type())};
  Launch(device_, kernel_,
         {{static_cast<int32_t>(host_moves_.size()), static_cast<int32_t>(arrays_.count()), 1}, 0},
         params);
}

}  // namespace kvbench
