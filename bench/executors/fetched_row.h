#pragma once

#include <cstdint>
#include <vector>

#include "kernels/attention.h"
#include "kernels/cuda/device.h"

namespace kvbench {

/// One query of a layer's attention on a device, brought to the host with all that its output
/// depends on, so that the reference can be asked.
class FetchedRow {
 public:
  /// Copies query `query` of sequence number `sequence` of a call whose pointers are the device's:
  /// its q, its output, and the K and V of the tokens that it sees. The device has computed it.
  void Fetch(Device& device, const AttentionCall& on_device, int64_t sequence, int32_t query);

  /// A call on the host of one sequence with one query. Good until the next Fetch.
  const AttentionCall& call() const { return call_; }

 private:
  void FetchBlocks(Device& device, const AttentionCall& on_device, const AttentionSequence& from);
  void FetchChunk(Device& device, const AttentionCall& on_device, const AttentionSequence& from);

  AttentionCall call_;
  std::vector<AttentionSequence> sequence_;
  std::vector<float> q_;
  std::vector<float> out_;
  std::vector<uint8_t> k_;
  std::vector<uint8_t> v_;
  std::vector<int32_t> blocks_;
};

}  // namespace kvbench
