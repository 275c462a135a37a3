// Loads and stores of KV elements as fp32 vectors, compiled once for each target.

#if defined(KVBENCH_KERNELS_CPU_CONVERT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KVBENCH_KERNELS_CPU_CONVERT_INL_H_
#undef KVBENCH_KERNELS_CPU_CONVERT_INL_H_
#else
#define KVBENCH_KERNELS_CPU_CONVERT_INL_H_
#endif

#include <cstdint>

#include "kernels/cpu/targets.h"
//
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace kvbench {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using F32Tag = hn::ScalableTag<float>;
using F32 = hn::Vec<F32Tag>;
constexpr int kLanes = static_cast<int>(hn::MaxLanes(F32Tag()));

// Highway emulates fp16 where there are no instructions for it, but cuts instead of rounding and
// has no infinities.
#if HWY_ARCH_X86 && HWY_TARGET >= HWY_SSE4
constexpr bool kNativeFp16 = false;
#else
constexpr bool kNativeFp16 = true;
#endif

HWY_INLINE F32 LoadF32(F32Tag d, const float* HWY_RESTRICT from) { return hn::LoadU(d, from); }

HWY_INLINE F32 LoadF32(F32Tag d, const hwy::bfloat16_t* HWY_RESTRICT from) {
  const hn::Rebind<hwy::bfloat16_t, F32Tag> d16;
  return hn::PromoteTo(d, hn::LoadU(d16, from));
}

HWY_INLINE F32 LoadF32(F32Tag d, const hwy::float16_t* HWY_RESTRICT from) {
  if constexpr (kNativeFp16) {
    const hn::Rebind<hwy::float16_t, F32Tag> d16;
    return hn::PromoteTo(d, hn::LoadU(d16, from));
  } else {
    const hn::RebindToUnsigned<F32Tag> du;
    const hn::Rebind<uint16_t, F32Tag> d16;
    const auto bits = hn::PromoteTo(du, hn::LoadU(d16, reinterpret_cast<const uint16_t*>(from)));
    const auto magnitude = hn::ShiftLeft<13>(hn::And(bits, hn::Set(du, 0x7fffu)));
    const auto sign = hn::ShiftLeft<16>(hn::And(bits, hn::Set(du, 0x8000u)));
    // Exponents start 112 lower in fp32; the multiplication moves them and makes subnormals normal.
    const F32 finite = hn::Mul(hn::BitCast(d, magnitude), hn::Set(d, 0x1p112f));
    // Infinity and NaN come out at 2^16 and above: their exponent becomes all ones.
    const auto special = hn::Ge(finite, hn::Set(d, 65536.0f));
    const F32 raised = hn::Or(finite, hn::BitCast(d, hn::Set(du, 0x7f800000u)));
    return hn::Or(hn::IfThenElse(special, raised, finite), hn::BitCast(d, sign));
  }
}

HWY_INLINE F32 LoadF32(F32Tag d, const int8_t* HWY_RESTRICT from) {
  const hn::RebindToSigned<F32Tag> di;
  const hn::Rebind<int8_t, F32Tag> d8;
  return hn::ConvertTo(d, hn::PromoteTo(di, hn::LoadU(d8, from)));
}

HWY_INLINE void StoreF32(F32 value, F32Tag d, float* HWY_RESTRICT to) { hn::StoreU(value, d, to); }

HWY_INLINE void StoreF32(F32 value, F32Tag d, hwy::bfloat16_t* HWY_RESTRICT to) {
  const hn::RebindToUnsigned<F32Tag> du;
  const hn::RebindToSigned<F32Tag> di;
  const hn::Rebind<uint16_t, F32Tag> d16;
  const auto bits = hn::BitCast(du, value);
  const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(du, 1u));
  const auto rounded = hn::Add(bits, hn::Add(odd, hn::Set(du, 0x7fffu)));
  const auto quiet = hn::Or(bits, hn::Set(du, 0x400000u));
  const auto is_nan = hn::BitCast(du, hn::VecFromMask(d, hn::IsNaN(value)));
  const auto result = hn::ShiftRight<16>(hn::IfVecThenElse(is_nan, quiet, rounded));
  hn::StoreU(hn::DemoteTo(d16, hn::BitCast(di, result)), d16, reinterpret_cast<uint16_t*>(to));
}

HWY_INLINE void StoreF32(F32 value, F32Tag d, hwy::float16_t* HWY_RESTRICT to) {
  if constexpr (kNativeFp16) {
    const hn::Rebind<hwy::float16_t, F32Tag> d16;
    hn::StoreU(hn::DemoteTo(d16, value), d16, to);
  } else {  // the same steps as FloatToFp16, all of them for every lane
    const hn::RebindToUnsigned<F32Tag> du;
    const hn::RebindToSigned<F32Tag> di;
    const hn::Rebind<uint16_t, F32Tag> d16;
    const auto bits = hn::BitCast(du, value);
    const auto magnitude = hn::And(bits, hn::Set(du, 0x7fffffffu));
    const auto sign = hn::And(hn::ShiftRight<16>(bits), hn::Set(du, 0x8000u));
    const F32 positive = hn::BitCast(d, magnitude);
    const auto odd = hn::And(hn::ShiftRight<13>(magnitude), hn::Set(du, 1u));
    const auto offset = hn::Sub(hn::Set(du, 0xfffu), hn::Set(du, 0x38000000u));
    const auto normal = hn::ShiftRight<13>(hn::Add(magnitude, hn::Add(odd, offset)));
    const auto tiny =
        hn::Sub(hn::BitCast(du, hn::Add(positive, hn::Set(d, 0.5f))), hn::Set(du, 0x3f000000u));
    const auto nan =
        hn::Or(hn::And(hn::ShiftRight<13>(magnitude), hn::Set(du, 0x3ffu)), hn::Set(du, 0x7e00u));
    const auto is_tiny =
        hn::BitCast(du, hn::VecFromMask(d, hn::Lt(positive, hn::Set(d, 0x1p-14f))));
    const auto is_large =
        hn::BitCast(du, hn::VecFromMask(d, hn::Ge(positive, hn::Set(d, 65520.0f))));
    const auto is_nan = hn::BitCast(du, hn::VecFromMask(d, hn::IsNaN(value)));
    auto result = hn::IfVecThenElse(is_tiny, tiny, normal);
    result = hn::IfVecThenElse(is_large, hn::Set(du, 0x7c00u), result);
    result = hn::Or(hn::IfVecThenElse(is_nan, nan, result), sign);
    hn::StoreU(hn::DemoteTo(d16, hn::BitCast(di, result)), d16, reinterpret_cast<uint16_t*>(to));
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace kvbench
HWY_AFTER_NAMESPACE();

#endif
