#include "kernels/cuda/cuda_device.h"

#include <cuda_profiler_api.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <unordered_map>

#include "kernels/cuda/all_kernels.h"
#include "kernels/cuda/cuda_gemm.h"

namespace kvbench {

namespace {

constexpr int32_t kSharedWithoutAsking = 48 * 1024;
constexpr size_t kStagingBytes = size_t{8} << 20;
/// What the driver rounds allocations up to at most.
constexpr int64_t kAllocationUnit = int64_t{2} << 20;

/// Throws CudaError for what is not cudaSuccess. `what` was asked of CUDA.
void CheckCuda(cudaError_t status, const std::string& what) {
  if (status != cudaSuccess) {
    throw CudaError(what + ": " + cudaGetErrorString(status) + " (" + cudaGetErrorName(status) +
                    ")");
  }
}

std::string VersionText(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

DeviceProperties PropertiesOf(int number) {
  cudaDeviceProp found = {};
  CheckCuda(cudaGetDeviceProperties(&found, number), "asking for a GPU's properties");
  int driver = 0;
  CheckCuda(cudaDriverGetVersion(&driver), "asking for the driver's version");
  return {.name = found.name,
          .multiprocessors = found.multiProcessorCount,
          .memory_bytes = static_cast<int64_t>(found.totalGlobalMem),
          .l2_bytes = found.l2CacheSize,
          .compute_capability = 10 * found.major + found.minor,
          .driver = VersionText(driver),
          .allocation_unit = kAllocationUnit};
}

class CudaDevice final : public Device {
 public:
  explicit CudaDevice(int number);
  ~CudaDevice() override;
  CudaDevice(const CudaDevice&) = delete;
  CudaDevice& operator=(const CudaDevice&) = delete;

  const DeviceProperties& properties() const override { return properties_; }
  size_t free_bytes() const override;
  void* Allocate(size_t bytes, const char* name) override;
  void Free(void* memory) override { cudaFree(memory); }
  void CopyToDevice(void* to, const void* from, size_t bytes) override;
  void CopyToHost(void* to, const void* from, size_t bytes) override;
  void Fill(void* to, int byte, size_t bytes) override {
    CheckCuda(cudaMemsetAsync(to, byte, bytes, stream_), "filling memory");
  }
  const Kernel& kernel(const std::string& name) const override;
  int32_t ResidentCtas(const Kernel& kernel, int32_t shared_bytes) const override;
  void Launch(const Kernel& kernel, const LaunchShape& shape, const void* params) override;
  void Multiply(const DeviceGemm& gemm) override;
  int64_t Record() override;
  double SecondsBetween(int64_t first, int64_t second) override;
  void BeginProfiling() override { CheckCuda(cudaProfilerStart(), "starting the profiler"); }
  void EndProfiling() override { CheckCuda(cudaProfilerStop(), "stopping the profiler"); }
  void Synchronize() override {
    CheckCuda(cudaStreamSynchronize(stream_), "waiting for the GPU");
    staged_ = 0;
  }

 private:
  cudaEvent_t Event(int64_t number) const;
  void AllowShared(const Kernel& kernel, int32_t shared_bytes) const;

  DeviceProperties properties_;
  KernelTable kernels_ = CudaKernels();
  cudaStream_t stream_ = nullptr;
  uint8_t* staging_ = nullptr;  // pinned [kStagingBytes]; copies to the device wait in it
  size_t staged_ = 0;           // bytes of it in use
  std::vector<cudaEvent_t> events_;
  int64_t recorded_ = 0;
  std::optional<CudaGemm> gemm_;
  void* gemm_workspace_ = nullptr;
  mutable std::unordered_map<const void*, int32_t> shared_allowed_;
};

CudaDevice::CudaDevice(int number) : properties_(PropertiesOf(number)) {
  CheckCuda(cudaSetDevice(number), "choosing a GPU");
  cudaFuncAttributes attributes = {};
  const cudaError_t built = cudaFuncGetAttributes(&attributes, kernels_.all().front().entry);
  if (built == cudaErrorNoKernelImageForDevice || built == cudaErrorInvalidDeviceFunction) {
    throw CudaError("this kvbench has no kernels for " + properties_.name +
                    ", compute capability " + std::to_string(properties_.compute_capability / 10) +
                    "." + std::to_string(properties_.compute_capability % 10) +
                    ": build it with -DCMAKE_CUDA_ARCHITECTURES=" +
                    std::to_string(properties_.compute_capability));
  }
  CheckCuda(built, "looking for a kernel");
  CheckCuda(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "making a stream");
  CheckCuda(cudaMallocHost(reinterpret_cast<void**>(&staging_), kStagingBytes),
            "allocating pinned memory");
  CheckCuda(cudaMalloc(&gemm_workspace_, CudaGemm::kWorkspace),
            "allocating the workspace of dense layers");
  gemm_.emplace();
}

CudaDevice::~CudaDevice() {
  // Errors have nobody left to tell.
  cudaStreamSynchronize(stream_);
  gemm_.reset();
  for (const cudaEvent_t event : events_) {
    cudaEventDestroy(event);
  }
  cudaFree(gemm_workspace_);
  cudaFreeHost(staging_);
  cudaStreamDestroy(stream_);
}

size_t CudaDevice::free_bytes() const {
  size_t free = 0;
  size_t total = 0;
  CheckCuda(cudaMemGetInfo(&free, &total), "asking for free memory");
  return free;
}

void* CudaDevice::Allocate(size_t bytes, const char* name) {
  if (bytes == 0) {
    return nullptr;
  }
  void* memory = nullptr;
  const cudaError_t status = cudaMalloc(&memory, bytes);
  if (status == cudaErrorMemoryAllocation) {
    cudaGetLastError();  // it is told here, and not again by the next call
    throw DeviceMemoryError(bytes, free_bytes());
  }
  CheckCuda(status, std::string("allocating '") + name + "'");
  return memory;
}

void CudaDevice::CopyToDevice(void* to, const void* from, size_t bytes) {
  const void* source = from;
  if (bytes <= kStagingBytes / 4) {
    // Copies of what a step needs to know are queued; their bytes wait in pinned memory.
    const size_t rounded = (bytes + 255) / 256 * 256;
    if (staged_ + rounded > kStagingBytes) {
      Synchronize();
    }
    std::memcpy(staging_ + staged_, from, bytes);
    source = staging_ + staged_;
    staged_ += rounded;
  }
  CheckCuda(cudaMemcpyAsync(to, source, bytes, cudaMemcpyHostToDevice, stream_),
            "copying to the GPU");
  if (source == from) {
    Synchronize();
  }
}

void CudaDevice::CopyToHost(void* to, const void* from, size_t bytes) {
  CheckCuda(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream_),
            "copying from the GPU");
  Synchronize();
}

const Kernel& CudaDevice::kernel(const std::string& name) const {
  const Kernel* const kernel = kernels_.Find(name);
  if (kernel == nullptr) {
    throw std::logic_error("no kernel is called " + name);
  }
  return *kernel;
}

void CudaDevice::AllowShared(const Kernel& kernel, int32_t shared_bytes) const {
  int32_t& allowed = shared_allowed_.try_emplace(kernel.entry, kSharedWithoutAsking).first->second;
  if (shared_bytes > allowed) {
    CheckCuda(cudaFuncSetAttribute(kernel.entry, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   shared_bytes),
              kernel.name + " with " + std::to_string(shared_bytes) + " bytes of shared memory");
    allowed = shared_bytes;
  }
}

int32_t CudaDevice::ResidentCtas(const Kernel& kernel, int32_t shared_bytes) const {
  AllowShared(kernel, shared_bytes);
  int ctas = 0;
  CheckCuda(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&ctas, kernel.entry, kernel.threads,
                                                          static_cast<size_t>(shared_bytes)),
            "occupancy of " + kernel.name);
  return ctas;
}

void CudaDevice::Launch(const Kernel& kernel, const LaunchShape& shape, const void* params) {
  if (std::find(shape.grid.begin(), shape.grid.end(), 0) != shape.grid.end()) {
    return;
  }
  AllowShared(kernel, shape.shared_bytes);
  const auto size = [&](int axis) { return static_cast<unsigned>(shape.grid[axis]); };
  void* arguments[] = {const_cast<void*>(params)};
  const cudaError_t status = cudaLaunchKernel(
      kernel.entry, dim3(size(0), size(1), size(2)), dim3(static_cast<unsigned>(kernel.threads)),
      arguments, static_cast<size_t>(shape.shared_bytes), stream_);
  if (status != cudaSuccess) {
    CheckCuda(status, "launching " + kernel.name);
  }
}

void CudaDevice::Multiply(const DeviceGemm& gemm) {
  if (gemm.rows == 0) {
    return;
  }
  gemm_->Multiply(gemm, gemm_workspace_, stream_);
}

int64_t CudaDevice::Record() {
  if (static_cast<int64_t>(events_.size()) < kEvents) {
    events_.emplace_back();
    CheckCuda(cudaEventCreate(&events_.back()), "making an event");
  }
  CheckCuda(cudaEventRecord(events_[static_cast<size_t>(recorded_ % kEvents)], stream_),
            "recording an event");
  return recorded_++;
}

cudaEvent_t CudaDevice::Event(int64_t number) const {
  if (number < 0 || number >= recorded_ || number < recorded_ - kEvents) {
    throw std::logic_error("event " + std::to_string(number) + " of " + std::to_string(recorded_) +
                           " is not kept");
  }
  return events_[static_cast<size_t>(number % kEvents)];
}

double CudaDevice::SecondsBetween(int64_t first, int64_t second) {
  CheckCuda(cudaEventSynchronize(Event(second)), "waiting for an event");
  float milliseconds = 0;
  CheckCuda(cudaEventElapsedTime(&milliseconds, Event(first), Event(second)),
            "the time between two events");
  return 1e-3 * static_cast<double>(milliseconds);
}

}  // namespace

std::vector<DeviceProperties> ListCudaDevices() {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status == cudaErrorNoDevice) {
    return {};
  }
  int driver = 0;
  if (status == cudaErrorInsufficientDriver && cudaDriverGetVersion(&driver) == cudaSuccess) {
    throw CudaError(driver == 0 ? "no NVIDIA driver is installed"
                                : "its driver runs CUDA " + VersionText(driver) +
                                      ", and this kvbench needs " + CudaRuntimeVersion());
  }
  CheckCuda(status, "asking for GPUs");
  std::vector<DeviceProperties> devices;
  for (int number = 0; number < count; ++number) {
    devices.push_back(PropertiesOf(number));
  }
  return devices;
}

std::string CudaRuntimeVersion() { return VersionText(CUDART_VERSION); }

std::unique_ptr<Device> OpenCudaDevice(int number) { return std::make_unique<CudaDevice>(number); }

}  // namespace kvbench
