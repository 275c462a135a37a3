#pragma once

#include <cstdint>
#include <type_traits>

#if defined(__CUDACC__)
#define KV_HOST_DEVICE __host__ __device__ __forceinline__
#else
#define KV_HOST_DEVICE inline
#endif

namespace kvbench {

/// An address in the memory of a device. It cannot be dereferenced: kernels reach it through Load
/// and Store (vocabulary.h), hosts through a Device.
template <typename T>
struct Global {
  T* address = nullptr;
  Global() = default;
  KV_HOST_DEVICE Global(T* at) : address(at) {}
  template <typename U>
  requires std::is_same_v<const U, T> KV_HOST_DEVICE Global(const Global<U>& writable)
      : address(writable.address) {}
  KV_HOST_DEVICE Global operator+(int64_t elements) const { return {address + elements}; }
};

/// An address in the shared memory of a CTA.
template <typename T>
struct Shared {
  T* address = nullptr;
  Shared() = default;
  KV_HOST_DEVICE Shared(T* at) : address(at) {}
  template <typename U>
  requires std::is_same_v<const U, T> KV_HOST_DEVICE Shared(const Shared<U>& writable)
      : address(writable.address) {}
  KV_HOST_DEVICE Shared operator+(int32_t elements) const { return {address + elements}; }
};

/// 16-bit elements: KV, weights and what dense layers read. Arithmetic is done in float.
struct Fp16 {
  uint16_t bits;
};
struct Bf16 {
  uint16_t bits;
};

/// What a 16-byte access moves.
struct alignas(16) Vector16 {
  uint32_t words[4];
};

/// What an 8-byte access moves: four 16-bit elements made of four floats.
struct alignas(8) Vector8 {
  uint32_t words[2];
};

}  // namespace kvbench
