#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>

#include "kernels/simulator/word_history.h"

namespace kvbench {

/// Who touched global memory in a launch: one WordHistory for two bytes, in pages that come when
/// they are touched.
class GlobalHistory {
 public:
  /// Those of [address, address + bytes). Precondition: they do not cross a page, as aligned
  /// accesses of up to 128 bytes do not.
  std::span<WordHistory> Words(const void* address, uint32_t bytes) {
    const auto word = reinterpret_cast<uintptr_t>(address) / 2;
    const uintptr_t number = word / kPageWords;
    if (last_ == nullptr || number != last_number_) {
      std::unique_ptr<Page>& page = pages_[number];
      if (page == nullptr) {
        page = std::make_unique<Page>();
      }
      last_ = page.get();
      last_number_ = number;
    }
    return std::span(*last_).subspan(word % kPageWords, bytes < 2 ? 1 : bytes / 2);
  }

 private:
  static constexpr uintptr_t kPageWords = 256;
  using Page = std::array<WordHistory, kPageWords>;
  std::unordered_map<uintptr_t, std::unique_ptr<Page>> pages_;
  uintptr_t last_number_ = 0;
  Page* last_ = nullptr;
};

}  // namespace kvbench
