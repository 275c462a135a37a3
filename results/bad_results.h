#pragma once

#include <stdexcept>
#include <string>

namespace kvbench {

/// A results file that cannot be used; what() is a sentence that names it.
class BadResults : public std::runtime_error {
 public:
  explicit BadResults(const std::string& sentence) : std::runtime_error(sentence) {}
};

}  // namespace kvbench
