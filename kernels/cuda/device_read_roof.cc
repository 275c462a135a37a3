#include "kernels/cuda/device_read_roof.h"

#include <numeric>
#include <vector>

namespace kvbench {

DeviceReadRoof::DeviceReadRoof(Device& device)
    : device_(device),
      kernel_(device.kernel("read_roof")),
      ctas_(device.properties().multiprocessors * device.ResidentCtas(kernel_, 0)),
      sums_(device, int64_t{ctas_} * kReadRoofWarps, "sums of the read roof") {}

void DeviceReadRoof::Read(const void* from, int64_t bytes) {
  Launch(device_, kernel_, {{ctas_, 1, 1}, 0},
         ReadRoofParams{.from = {static_cast<const Vector16*>(from)},
                        .vectors = bytes / static_cast<int64_t>(sizeof(Vector16)),
                        .sums = sums_.global()});
}

uint32_t DeviceReadRoof::Sum() const {
  std::vector<uint32_t> sums(static_cast<size_t>(sums_.count()));
  sums_.Download(sums);
  return std::accumulate(sums.begin(), sums.end(), uint32_t{0});
}

}  // namespace kvbench
