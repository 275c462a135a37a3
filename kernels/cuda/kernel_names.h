#pragma once

#include <stdexcept>
#include <string>

#include "kernels/attention.h"
#include "kernels/cuda/address.h"

/// Names of kernels, for those who register them and those who look them up.
namespace kvbench {

template <typename T>
const char* KvTypeName();
template <>
inline const char* KvTypeName<Fp16>() {
  return "fp16";
}
template <>
inline const char* KvTypeName<Bf16>() {
  return "bf16";
}

/// Throws std::invalid_argument for a type that the CUDA kernels do not have.
inline std::string DeviceTypeName(KvType type) {
  if (type != KvType::kFp16 && type != KvType::kBf16) {
    throw std::invalid_argument("the CUDA kernels have float16 and bfloat16 KV");
  }
  return type == KvType::kFp16 ? KvTypeName<Fp16>() : KvTypeName<Bf16>();
}

inline std::string LayoutName(bool paged) { return paged ? "paged" : "contiguous"; }

/// Decode without tensor cores. @param heads query heads that a thread takes: 1, 2 or 4
inline std::string DecodeCoresName(const std::string& kv_type, int head_dim, bool paged, int heads,
                                   int stages) {
  return "decode-cores/" + kv_type + "/d" + std::to_string(head_dim) + "/" + LayoutName(paged) +
         "/heads" + std::to_string(heads) + "/stages" + std::to_string(stages);
}

/// Attention by tensor cores. @param rows (query, head of the group) pairs of an item: 16 or 32
inline std::string AttentionMmaName(const std::string& kv_type, int head_dim, bool paged,
                                    int rows) {
  return "attention-mma/" + kv_type + "/d" + std::to_string(head_dim) + "/" + LayoutName(paged) +
         "/rows" + std::to_string(rows);
}

}  // namespace kvbench
