#pragma once

#include <stdexcept>
#include <string>

namespace kvbench {

/// Results that cannot be used. what() is a sentence; where a single text is read, it follows the
/// file's name and ": ", which the reader does not know.
class ResultsError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace kvbench
