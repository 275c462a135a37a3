#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "bench/gpu/decode_cell.h"
#include "bench/gpu/kv_arena.h"
#include "kernels/cuda/device.h"
#include "kernels/cuda/device_read_roof.h"

namespace kvbench::gpu {

/// Seconds since some moment of this process.
using WallClock = std::function<double()>;

struct DecodeBenchOptions {
  int warmups = 3;
  int repetitions = 21;
  int repetitions_a_roof = 4;  ///< the read roof has its turn before every so many of a cell
  int64_t roof_bytes = int64_t{1} << 30;
  int64_t flush_bytes = 0;  ///< read before each repetition; 0: twice the L2
  int64_t tile_bytes = KvArena::kTileBytes;
};

/// What a cell took. Times in seconds, one a repetition, in order.
struct DecodeResult {
  DecodeCell cell;
  std::string skipped;  ///< why there is nothing below; empty: it was measured
  std::string kernel;
  std::vector<double> seconds;       ///< one layer's attention by events of the device, L2 cold
  std::vector<double> roof_seconds;  ///< reading roof_bytes, between the repetitions
  std::vector<double> plan_seconds;  ///< on the host: planning a step and uploading the plan
  double error = 0;                  ///< of a sampled output row, as a share of its largest element
  bool right = true;

  bool measured() const { return skipped.empty(); }
};

/// Measures cells one after the other in one arena.
class DecodeBench {
 public:
  /// The arena is as large as the largest of the cells that fit into nine tenths of what is free,
  /// and at least what the roof reads. Throws DeviceMemoryError if that does not fit.
  DecodeBench(Device& device, const DecodeBenchOptions& options,
              const std::vector<DecodeCell>& cells, WallClock now);

  DecodeResult Run(const DecodeCell& cell);

  const DecodeBenchOptions& options() const { return options_; }
  int64_t arena_bytes() const { return arena_->bytes(); }

 private:
  template <typename Attention>
  void Measure(Attention& attention, const PlacedCell& placed, DecodeResult& result);
  void CheckLastRow(const PlacedCell& placed, const std::vector<float>& q, DecodeResult& result);
  void Flush();
  const uint8_t* V(const DecodeCell& cell) const;

  Device& device_;
  DecodeBenchOptions options_;
  WallClock now_;
  std::mt19937_64 random_{1};
  RoofReader roof_;
  DeviceArray<uint8_t> flushed_;
  std::unique_ptr<KvArena> arena_;
  DeviceArray<float> q_;
  DeviceArray<float> out_;
};

}  // namespace kvbench::gpu
