#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace kvbench {

/// What became of a decimal number's text. Only kOk comes with a value.
enum class DecimalStatus { kOk, kNotANumber, kTooManyDecimals, kTooLarge };

struct Decimal {
  DecimalStatus status = DecimalStatus::kNotANumber;
  int64_t value = 0;
};

/// How ParseDecimal treats decimals beyond the ones asked for.
enum class ExtraDecimals { kRefuse, kRoundHalfUp };

/// The decimal text times 10^decimals as an integer, without a floating-point number in between:
/// ("1.25", 6) is 1250000. Accepts a sign, a point and an exponent (JSON's numbers and a little
/// more). Extra decimals that are zero are always fine. kRoundHalfUp rounds a half away from zero.
Decimal ParseDecimal(std::string_view text, int decimals,
                     ExtraDecimals extra = ExtraDecimals::kRefuse);

/// A finite floating-point number that takes up the whole text, or nothing.
std::optional<double> ParseDouble(std::string_view text);

/// A whole number that takes up the whole text, or nothing.
std::optional<int64_t> ParseInteger(std::string_view text);

}  // namespace kvbench
