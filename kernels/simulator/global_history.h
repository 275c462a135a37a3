#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>

#include "kernels/simulator/word_history.h"

namespace kvbench {

/// Histories of global memory, for each two bytes that a launch has touched. They lie together by
/// cache lines, since most accesses are many bytes, and neighbours of the ones before.
class GlobalHistory {
 public:
  static constexpr uintptr_t kBytes = 2;  ///< that one history stands for

  /// @param index address / kBytes
  WordHistory& At(uintptr_t index) {
    const uintptr_t line = index / kLine;
    if (line != last_line_ || last_ == nullptr) {
      std::unique_ptr<Line>& found = lines_[line];
      if (!found) {
        found = std::make_unique<Line>();
      }
      last_line_ = line;
      last_ = found.get();
    }
    return (*last_)[index % kLine];
  }

 private:
  static constexpr uintptr_t kLine = 128 / kBytes;
  using Line = std::array<WordHistory, kLine>;

  std::unordered_map<uintptr_t, std::unique_ptr<Line>> lines_;
  uintptr_t last_line_ = 0;
  Line* last_ = nullptr;
};

}  // namespace kvbench
