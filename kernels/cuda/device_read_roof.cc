#include "kernels/cuda/device_read_roof.h"

#include <algorithm>

#include "kernels/cuda/read_roof_params.h"

namespace kvbench {

RoofReader::RoofReader(Device& device)
    : device_(device),
      kernel_(device.kernel("read_roof")),
      ctas_(device.properties().multiprocessors * device.ResidentCtas(kernel_, 0)),
      sums_(device, int64_t{ctas_} * kReadRoofThreads, "read roof sums") {}

void RoofReader::Read(const void* from, int64_t bytes) {
  Launch(device_, kernel_, {{ctas_, 1, 1}, 0},
         ReadRoofParams{.data = {static_cast<const Vector16*>(from)},
                        .vectors = bytes / 16,
                        .sums = sums_.global()});
}

uint32_t RoofReader::Checksum() const {
  std::vector<uint32_t> sums(static_cast<size_t>(sums_.count()));
  sums_.Download(sums);
  uint32_t all = 0;
  for (const uint32_t sum : sums) {
    all ^= sum;
  }
  return all;
}

int64_t DeviceReadRoof::GoodBytes(const Device& device) {
  constexpr int64_t kMost = int64_t{2} << 30;
  const auto free = static_cast<int64_t>(device.free_bytes());
  return std::min(kMost, free / 2) / 16 * 16;
}

DeviceReadRoof::DeviceReadRoof(Device& device, int64_t bytes)
    : device_(device), reader_(device), data_(device, bytes / 16, "read roof") {
  device.Fill(data_.data(), 0, static_cast<size_t>(bytes));
}

double DeviceReadRoof::Measure() {
  const int64_t begin = device_.Record();
  reader_.Read(data_.data(), 16 * data_.count());
  const int64_t end = device_.Record();
  device_.Synchronize();
  return static_cast<double>(data_.count() * 16) / device_.SecondsBetween(begin, end);
}

double DeviceReadRoof::Median(int rounds) {
  Measure();
  std::vector<double> speeds;
  for (int round = 0; round < rounds; ++round) {
    speeds.push_back(Measure());
  }
  std::sort(speeds.begin(), speeds.end());
  return speeds[speeds.size() / 2];
}

}  // namespace kvbench
