#pragma once

#include <memory>

#include "kernels/cuda/device.h"

struct CUstream_st;  // what CUDA's streams point to

namespace kvbench {

/// Dense layers by cuBLASLt, fp32 sums and results. The library is half a gigabyte, so it is loaded
/// here and not with the program; the algorithm for a shape is asked for once.
class CudaGemm {
 public:
  /// Throws CudaError where the library is missing or refuses.
  CudaGemm();
  ~CudaGemm();
  CudaGemm(const CudaGemm&) = delete;
  CudaGemm& operator=(const CudaGemm&) = delete;

  /// Bytes of device memory that algorithms may use, and that the caller gives.
  static constexpr size_t kWorkspace = size_t{32} << 20;

  /// Queues a multiplication. Throws CudaError.
  void Multiply(const DeviceGemm& gemm, void* workspace, CUstream_st* stream);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kvbench
