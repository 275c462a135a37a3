#pragma once

#include <bit>
#include <cmath>
#include <cstring>
#include <source_location>

#include "kernels/cuda/vocabulary.h"
#include "kernels/float16.h"
#include "kernels/simulator/cta.h"

// Where a word of the vocabulary stands in the kernel: evaluated at the call.
#define KV_SITE const Site& site = std::source_location::current()

/// The device vocabulary on the simulator; what the words mean stands in vocabulary.h.
namespace kvbench {
inline namespace KV_SPACE {

inline SimulatedCta& Cta() { return SimulatedCta::current(); }

inline int ThreadId() { return Cta().thread_id(); }
inline int ThreadCount() { return Cta().thread_count(); }
inline int LaneId() { return ThreadId() % kWarpSize; }
inline int WarpId() { return ThreadId() / kWarpSize; }
inline int CtaX() { return Cta().index()[0]; }
inline int CtaY() { return Cta().index()[1]; }
inline int CtaCountX() { return Cta().cta_count_x(); }

inline void SyncCta(KV_SITE) { Cta().SyncCta(site); }
inline void SyncWarp(KV_SITE) { Cta().SyncWarp(site); }

template <typename T>
T ShuffleFrom(T value, int lane, uint32_t mask = kFullWarp, KV_SITE) {
  SimulatedCta& cta = Cta();
  lane %= kWarpSize;
  if ((mask >> lane & 1U) == 0) {
    cta.Fail(SimulatorFault::Kind::kInactiveLane, site, [&] {
      return "shuffle from lane " + std::to_string(lane) + ", which is not in the mask";
    });
  }
  SimulatedCta::Exchange& exchange =
      cta.Meet(mask, &value, sizeof value, site, [](SimulatedCta::Exchange&) {});
  T received;
  std::memcpy(&received, exchange.slots[static_cast<size_t>(lane)].data(), sizeof received);
  cta.Leave(exchange);
  return received;
}
template <typename T>
T ShuffleXor(T value, int lanes, uint32_t mask = kFullWarp, KV_SITE) {
  return ShuffleFrom(value, LaneId() ^ lanes, mask, site);
}

template <typename T>
Shared<T> DynamicShared(int byte_offset) {
  return {static_cast<T*>(Cta().SharedAt(byte_offset))};
}

template <typename T>
std::remove_const_t<T> Load(Global<T> p, KV_SITE) {
  Cta().OnGlobalRead(p.address, sizeof(T), alignof(T), site);
  return *p.address;
}
template <typename T>
std::remove_const_t<T> Load(Shared<T> p, KV_SITE) {
  Cta().OnSharedRead(p.address, sizeof(T), alignof(T), site);
  return *p.address;
}
template <typename T, typename V>
void Store(Global<T> p, V value, KV_SITE) {
  Cta().OnGlobalWrite(p.address, sizeof(T), alignof(T), site);
  *p.address = value;
}
template <typename T, typename V>
void Store(Shared<T> p, V value, KV_SITE) {
  Cta().OnSharedWrite(p.address, sizeof(T), alignof(T), site);
  *p.address = value;
}
template <typename T>
Vector16 Load16(Global<T> p, KV_SITE) {
  Cta().OnGlobalRead(p.address, sizeof(Vector16), alignof(Vector16), site);
  Vector16 value;
  std::memcpy(&value, p.address, sizeof value);
  return value;
}
template <typename T>
Vector16 Load16(Shared<T> p, KV_SITE) {
  Cta().OnSharedRead(p.address, sizeof(Vector16), alignof(Vector16), site);
  Vector16 value;
  std::memcpy(&value, p.address, sizeof value);
  return value;
}
template <typename T>
void Store16(Global<T> p, const Vector16& value, KV_SITE) {
  Cta().OnGlobalWrite(p.address, sizeof(Vector16), alignof(Vector16), site);
  std::memcpy(p.address, &value, sizeof value);
}
template <typename T>
void Store16(Shared<T> p, const Vector16& value, KV_SITE) {
  Cta().OnSharedWrite(p.address, sizeof(Vector16), alignof(Vector16), site);
  std::memcpy(p.address, &value, sizeof value);
}
template <typename T>
void Store8(Global<T> p, const Vector8& value, KV_SITE) {
  Cta().OnGlobalWrite(p.address, sizeof(Vector8), alignof(Vector8), site);
  std::memcpy(p.address, &value, sizeof value);
}

template <typename T, typename U>
void CopyAsync16(Shared<T> to, Global<U> from, bool valid, KV_SITE) {
  Cta().CopyAsync16(to.address, from.address, valid, site);
}
inline void CommitCopies() { Cta().CommitCopies(); }
template <int kNewest>
void WaitCopies() {
  Cta().WaitCopies(kNewest);
}

/// Every lane names a row of 8 elements; the rows are what the lanes hand each other.
template <typename T>
SimulatedCta::Exchange& MeetWithRow(Shared<T> row, const Site& site) {
  SimulatedCta& cta = Cta();
  cta.OnSharedRead(row.address, sizeof(Vector16), alignof(Vector16), site);
  return cta.Meet(kFullWarp, row.address, sizeof(Vector16), site, [](SimulatedCta::Exchange&) {});
}
template <typename T>
void LoadMatrix4(uint32_t (&r)[4], Shared<T> row, KV_SITE) {
  SimulatedCta::Exchange& exchange = MeetWithRow(row, site);
  const int lane = LaneId();
  for (int matrix = 0; matrix < 4; ++matrix) {
    const auto& slot = exchange.slots[static_cast<size_t>(8 * matrix + lane / 4)];
    std::memcpy(&r[matrix], slot.data() + 4 * (lane % 4), 4);
  }
  Cta().Leave(exchange);
}
template <typename T>
void LoadMatrix4Transposed(uint32_t (&r)[4], Shared<T> row, KV_SITE) {
  SimulatedCta::Exchange& exchange = MeetWithRow(row, site);
  const int lane = LaneId();
  for (int matrix = 0; matrix < 4; ++matrix) {
    uint16_t pair[2];
    for (int i = 0; i < 2; ++i) {
      const auto& slot = exchange.slots[static_cast<size_t>(8 * matrix + 2 * (lane % 4) + i)];
      std::memcpy(&pair[i], slot.data() + 2 * (lane / 4), 2);
    }
    std::memcpy(&r[matrix], pair, 4);
  }
  Cta().Leave(exchange);
}

inline float ToFloat(float value) { return value; }
inline float ToFloat(Fp16 value) { return Fp16ToFloat(value.bits); }
inline float ToFloat(Bf16 value) { return Bf16ToFloat(value.bits); }

template <typename T>
T FromFloat(float value) {
  if constexpr (std::is_same_v<T, Fp16>) {
    return {FloatToFp16(value)};
  } else if constexpr (std::is_same_v<T, Bf16>) {
    return {FloatToBf16(value)};
  } else {
    return value;
  }
}
template <typename T>
void Unpack(uint32_t word, float (&pair)[2]) {
  pair[0] = ToFloat(T{static_cast<uint16_t>(word)});
  pair[1] = ToFloat(T{static_cast<uint16_t>(word >> 16)});
}
template <typename T>
uint32_t Pack(float first, float second) {
  return FromFloat<T>(first).bits | static_cast<uint32_t>(FromFloat<T>(second).bits) << 16;
}

/// d += a b, with the fragments of mma.m16n8k16: lane 4 g + t holds of a rows g and g + 8, columns
/// 2 t, 2 t + 1 and 8 more; of b the same columns as rows, column g; of d rows g and g + 8, columns
/// 2 t and 2 t + 1.
template <typename T>
void Multiply16x8x16(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2], KV_SITE) {
  uint32_t fragments[6] = {a[0], a[1], a[2], a[3], b[0], b[1]};
  SimulatedCta& cta = Cta();
  SimulatedCta::Exchange& exchange =
      cta.Meet(kFullWarp, fragments, sizeof fragments, site, [](SimulatedCta::Exchange& complete) {
        float left[16][16];
        float right[16][8];
        for (size_t lane = 0; lane < 32; ++lane) {
          uint32_t words[6];
          std::memcpy(words, complete.slots[lane].data(), sizeof words);
          const size_t g = lane / 4;
          const size_t t = lane % 4;
          for (size_t i = 0; i < 4; ++i) {
            float pair[2];
            Unpack<T>(words[i], pair);
            left[g + 8 * (i % 2)][2 * t + 8 * (i / 2)] = pair[0];
            left[g + 8 * (i % 2)][2 * t + 8 * (i / 2) + 1] = pair[1];
          }
          for (size_t i = 0; i < 2; ++i) {
            float pair[2];
            Unpack<T>(words[4 + i], pair);
            right[2 * t + 8 * i][g] = pair[0];
            right[2 * t + 8 * i + 1][g] = pair[1];
          }
        }
        for (size_t row = 0; row < 16; ++row) {
          for (size_t column = 0; column < 8; ++column) {
            float sum = 0;
            for (size_t k = 0; k < 16; ++k) {
              sum += left[row][k] * right[k][column];
            }
            complete.result[row * 8 + column] = sum;
          }
        }
      });
  const int g = LaneId() / 4;
  const int t = LaneId() % 4;
  for (int i = 0; i < 4; ++i) {
    d[i] += exchange.result[static_cast<size_t>((g + 8 * (i / 2)) * 8 + 2 * t + i % 2)];
  }
  cta.Leave(exchange);
}

inline float FloatOf(uint32_t word) { return std::bit_cast<float>(word); }
inline uint32_t WordOf(float value) { return std::bit_cast<uint32_t>(value); }

inline float Exp2(float value) { return std::exp2(value); }
inline float Log2(float value) { return std::log2(value); }
inline float ReciprocalSqrt(float value) { return 1 / std::sqrt(value); }
inline float Max(float a, float b) { return std::fmax(a, b); }

}  // namespace KV_SPACE
}  // namespace kvbench

#undef KV_SITE
