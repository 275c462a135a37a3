#pragma once

#include <cstdint>
#include <vector>

#include "kernels/cuda/device.h"

namespace kvbench {

/// Queues readings of memory that is there already, between other work.
class RoofReader {
 public:
  explicit RoofReader(Device& device);

  /// Reads each byte once. @param bytes a multiple of 16, as the address
  void Read(const void* from, int64_t bytes);
  /// Exclusive or of all 32-bit words that the last reading read.
  uint32_t Checksum() const;

 private:
  Device& device_;
  const Kernel& kernel_;
  int32_t ctas_;
  DeviceArray<uint32_t> sums_;
};

/// What a device reads from its memory at best, measured with an array far larger than its caches,
/// so that each reading finds it cold.
class DeviceReadRoof {
 public:
  /// Bytes that Measure is good with on a device: much more than its L2, and what is free.
  static int64_t GoodBytes(const Device& device);

  /// @param bytes of the array, a multiple of 16. Throws DeviceMemoryError.
  DeviceReadRoof(Device& device, int64_t bytes);

  /// Reads all of it once. Bytes per second by the device's events.
  double Measure();
  /// The median of `rounds` readings, after one that does not count.
  double Median(int rounds);

  DeviceArray<Vector16>& data() { return data_; }
  /// Exclusive or of all 32-bit words that the last reading read.
  uint32_t Checksum() const { return reader_.Checksum(); }

 private:
  Device& device_;
  RoofReader reader_;
  DeviceArray<Vector16> data_;
};

}  // namespace kvbench
