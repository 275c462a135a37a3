#pragma once

#include <stdexcept>
#include <string>

namespace kvbench {

/// The one exception that crosses a boundary. what() is a sentence for the user: where (file, line
/// or key), what is wrong, what would be right. `main` prints it and exits with the kind's code.
class Error : public std::runtime_error {
 public:
  enum class Kind {
    kInput = 2,    ///< bad input: a file, a flag, a suite, an output path
    kMachine = 3,  ///< the machine cannot do it: no GPU, out of memory
  };

  explicit Error(const std::string& sentence, Kind kind = Kind::kInput)
      : std::runtime_error(sentence), kind_(kind) {}

  Kind kind() const { return kind_; }
  int exit_code() const { return static_cast<int>(kind_); }

 private:
  Kind kind_;
};

}  // namespace kvbench
