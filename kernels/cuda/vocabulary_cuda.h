#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "kernels/cuda/vocabulary.h"

/// The device vocabulary in CUDA; what the words mean stands in vocabulary.h.
namespace kvbench {
inline namespace KV_SPACE {

KV_DEVICE int ThreadId() { return static_cast<int>(threadIdx.x); }
KV_DEVICE int ThreadCount() { return static_cast<int>(blockDim.x); }
KV_DEVICE int LaneId() { return ThreadId() % kWarpSize; }
KV_DEVICE int WarpId() { return ThreadId() / kWarpSize; }
KV_DEVICE int CtaX() { return static_cast<int>(blockIdx.x); }
KV_DEVICE int CtaY() { return static_cast<int>(blockIdx.y); }
KV_DEVICE int CtaCountX() { return static_cast<int>(gridDim.x); }

KV_DEVICE void SyncCta() { __syncthreads(); }
KV_DEVICE void SyncWarp() { __syncwarp(); }

template <typename T>
KV_DEVICE T ShuffleXor(T value, int lanes, uint32_t mask = kFullWarp) {
  return __shfl_xor_sync(mask, value, lanes);
}
template <typename T>
KV_DEVICE T ShuffleFrom(T value, int lane, uint32_t mask = kFullWarp) {
  return __shfl_sync(mask, value, lane);
}

template <typename T>
KV_DEVICE Shared<T> DynamicShared(int byte_offset) {
  extern __shared__ __align__(16) unsigned char kvbench_dynamic_shared[];
  return {reinterpret_cast<T*>(kvbench_dynamic_shared + byte_offset)};
}

template <typename T>
KV_DEVICE std::remove_const_t<T> Load(Global<T> p) {
  return *p.address;
}
template <typename T>
KV_DEVICE std::remove_const_t<T> Load(Shared<T> p) {
  return *p.address;
}
template <typename T, typename V>
KV_DEVICE void Store(Global<T> p, V value) {
  *p.address = value;
}
template <typename T, typename V>
KV_DEVICE void Store(Shared<T> p, V value) {
  *p.address = value;
}
template <typename T>
KV_DEVICE Vector16 Load16(Global<T> p) {
  return *reinterpret_cast<const Vector16*>(p.address);
}
template <typename T>
KV_DEVICE Vector16 Load16(Shared<T> p) {
  return *reinterpret_cast<const Vector16*>(p.address);
}
template <typename T>
KV_DEVICE void Store16(Global<T> p, const Vector16& value) {
  *reinterpret_cast<Vector16*>(p.address) = value;
}
template <typename T>
KV_DEVICE void Store16(Shared<T> p, const Vector16& value) {
  *reinterpret_cast<Vector16*>(p.address) = value;
}
template <typename T>
KV_DEVICE void Store8(Global<T> p, const Vector8& value) {
  *reinterpret_cast<Vector8*>(p.address) = value;
}

template <typename T>
KV_DEVICE uint32_t SharedAddress(Shared<T> p) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(p.address));
}

template <typename T, typename U>
KV_DEVICE void CopyAsync16(Shared<T> to, Global<U> from, bool valid) {
  // A source size of 0 reads nothing and fills with zeros. L2 alone: KV is read once.
  const uint32_t bytes = valid ? 16 : 0;
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;\n" ::"r"(SharedAddress(to)),
               "l"(from.address), "r"(bytes)
               : "memory");
}
KV_DEVICE void CommitCopies() { asm volatile("cp.async.commit_group;\n" ::: "memory"); }
template <int kNewest>
KV_DEVICE void WaitCopies() {
  asm volatile("cp.async.wait_group %0;\n" ::"n"(kNewest) : "memory");
}

template <typename T>
KV_DEVICE void LoadMatrix4(uint32_t (&r)[4], Shared<T> row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];\n"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(SharedAddress(row))
               : "memory");
}
template <typename T>
KV_DEVICE void LoadMatrix4Transposed(uint32_t (&r)[4], Shared<T> row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];\n"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(SharedAddress(row))
               : "memory");
}

template <typename T>
KV_DEVICE void Multiply16x8x16(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
  if constexpr (std::is_same_v<T, Fp16>) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};\n"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  } else {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};\n"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  }
}

KV_DEVICE float ToFloat(float value) { return value; }
KV_DEVICE float ToFloat(Fp16 value) { return __half2float(__ushort_as_half(value.bits)); }
KV_DEVICE float ToFloat(Bf16 value) { return __bfloat162float(__ushort_as_bfloat16(value.bits)); }

template <typename T>
KV_DEVICE T FromFloat(float value) {
  if constexpr (std::is_same_v<T, Fp16>) {
    return {__half_as_ushort(__float2half_rn(value))};
  } else if constexpr (std::is_same_v<T, Bf16>) {
    return {__bfloat16_as_ushort(__float2bfloat16_rn(value))};
  } else {
    return value;
  }
}

template <typename T>
KV_DEVICE void Unpack(uint32_t word, float (&pair)[2]) {
  if constexpr (std::is_same_v<T, Fp16>) {
    const float2 both = __half22float2(*reinterpret_cast<const __half2*>(&word));
    pair[0] = both.x;
    pair[1] = both.y;
  } else {
    pair[0] = __uint_as_float(word << 16);
    pair[1] = __uint_as_float(word & 0xffff0000u);
  }
}
template <typename T>
KV_DEVICE uint32_t Pack(float first, float second) {
  if constexpr (std::is_same_v<T, Fp16>) {
    const __half2 both = __floats2half2_rn(first, second);
    return *reinterpret_cast<const uint32_t*>(&both);
  } else {
    const __nv_bfloat162 both = __floats2bfloat162_rn(first, second);
    return *reinterpret_cast<const uint32_t*>(&both);
  }
}

KV_DEVICE float FloatOf(uint32_t word) { return __uint_as_float(word); }
KV_DEVICE uint32_t WordOf(float value) { return __float_as_uint(value); }

KV_DEVICE float Exp2(float value) {
  float result;
  asm("ex2.approx.ftz.f32 %0, %1;\n" : "=f"(result) : "f"(value));
  return result;
}
KV_DEVICE float Log2(float value) { return __log2f(value); }
KV_DEVICE float ReciprocalSqrt(float value) { return rsqrtf(value); }
KV_DEVICE float Max(float a, float b) { return fmaxf(a, b); }

}  // namespace KV_SPACE
}  // namespace kvbench
