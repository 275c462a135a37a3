#pragma once

#include <cstdint>
#include <vector>

#include "kernels/cpu/buffer.h"
#include "kernels/cpu/thread_pool.h"

namespace kvbench {

/// The read roof: bytes/s at which the pool's threads can stream memory that no cache holds. Keep
/// one and call Measure between other measurements, so that both see the same machine.
class ReadRoof {
 public:
  /// @param bytes much larger than the last-level cache. Throws std::bad_alloc.
  explicit ReadRoof(size_t bytes);

  /// One pass over the buffer by all threads of the pool; returns bytes/s.
  double Measure(ThreadPool& pool);

 private:
  Buffer buffer_;
};

}  // namespace kvbench
