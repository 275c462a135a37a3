#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kvbench {

/// A parameter in one string: "gamma:cv=2" has the name "gamma" and the option cv. Options are
/// taken one by one; what nobody took is an error.
class SpecString {
 public:
  /// `flag` stands in front of error sentences ("--lengths"). Throws Error for a part that is no
  /// key=value and for a key that is there twice.
  SpecString(std::string_view text, std::string_view flag);

  const std::string& name() const { return name_; }

  std::optional<std::string> Take(std::string_view key);
  /// The option as a number in [min, max]; `absent` where it is not there, or an Error if that is
  /// empty too.
  double TakeNumber(std::string_view key, double min, double max,
                    std::optional<double> absent = std::nullopt);
  int64_t TakeInteger(std::string_view key, int64_t min, int64_t max,
                      std::optional<int64_t> absent = std::nullopt);

  /// Throws Error for an option that was not taken, naming the ones that were asked for.
  void Finish() const;

  /// Throws Error: "--lengths 'text': sentence".
  [[noreturn]] void Fail(std::string_view sentence) const;

 private:
  std::string text_;
  std::string flag_;
  std::string name_;
  std::vector<std::pair<std::string, std::string>> options_;
  std::vector<std::string> asked_;
};

}  // namespace kvbench
