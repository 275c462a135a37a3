#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>

#include "kernels/simulator/word_history.h"

namespace kvbench {

/// Who touched global memory in a launch: one WordHistory for two bytes, in pages that come when
/// they are touched.
class GlobalHistory {
 public:
  /// Calls f for those of [address, address + bytes), until it says false.
  template <typename F>
  void ForEach(const void* address, uint32_t bytes, F&& f) {
    const auto first = reinterpret_cast<uintptr_t>(address) / 2;
    const auto last = (reinterpret_cast<uintptr_t>(address) + bytes - 1) / 2;
    for (uintptr_t word = first; word <= last; ++word) {
      if (!f(PageOf(word)[word % kPageWords])) {
        return;
      }
    }
  }

 private:
  static constexpr uintptr_t kPageWords = 256;
  using Page = std::array<WordHistory, kPageWords>;

  Page& PageOf(uintptr_t word) {
    const uintptr_t number = word / kPageWords;
    if (last_ == nullptr || number != last_number_) {
      std::unique_ptr<Page>& page = pages_[number];
      if (page == nullptr) {
        page = std::make_unique<Page>();
      }
      last_ = page.get();
      last_number_ = number;
    }
    return *last_;
  }

  std::unordered_map<uintptr_t, std::unique_ptr<Page>> pages_;
  uintptr_t last_number_ = 0;
  Page* last_ = nullptr;
};

}  // namespace kvbench
