#include "base/number_text.h"

#include <charconv>
#include <cmath>
#include <limits>

namespace kvbench {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

/// Reads "e-12" to the end of the text. Exponents are cut at +-100000, far past every number that
/// fits.
std::optional<int64_t> ParseExponent(std::string_view text) {
  constexpr int64_t kEnough = 100'000;
  bool negative = false;
  if (!text.empty() && (text[0] == '+' || text[0] == '-')) {
    negative = text[0] == '-';
    text.remove_prefix(1);
  }
  if (text.empty()) {
    return std::nullopt;
  }
  int64_t exponent = 0;
  for (const char c : text) {
    if (!IsDigit(c)) {
      return std::nullopt;
    }
    if (exponent < kEnough) {
      exponent = exponent * 10 + (c - '0');
    }
  }
  return negative ? -exponent : exponent;
}

}  // namespace

Decimal ParseDecimal(std::string_view text, int decimals, ExtraDecimals extra) {
  const Decimal not_a_number{DecimalStatus::kNotANumber, 0};
  bool negative = false;
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
    negative = text[0] == '-';
    text.remove_prefix(1);
  }
  // First pass: where the digits, the point and the exponent are.
  size_t end = 0;
  int64_t digits = 0;
  int64_t before_point = -1;
  while (end < text.size() && (IsDigit(text[end]) || (text[end] == '.' && before_point < 0))) {
    if (text[end] == '.') {
      before_point = digits;
    } else {
      ++digits;
    }
    ++end;
  }
  if (digits == 0) {
    return not_a_number;
  }
  if (before_point < 0) {
    before_point = digits;
  }
  int64_t exponent = 0;
  if (end < text.size()) {
    if (text[end] != 'e' && text[end] != 'E') {
      return not_a_number;
    }
    const std::optional<int64_t> parsed = ParseExponent(text.substr(end + 1));
    if (!parsed) {
      return not_a_number;
    }
    exponent = *parsed;
  }
  // Second pass: the first `kept` digits make the integer; what follows are extra decimals.
  const int64_t kept = before_point + exponent + decimals;
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  int64_t value = 0;
  int64_t index = 0;
  bool round_up = false;
  const auto append = [&value](int digit) {
    if (value > (kMax - digit) / 10) {
      return false;
    }
    value = value * 10 + digit;
    return true;
  };
  for (size_t i = 0; i < end; ++i) {
    if (text[i] == '.') {
      continue;
    }
    const int digit = text[i] - '0';
    if (index >= kept) {
      if (digit != 0 && extra == ExtraDecimals::kRefuse) {
        return {DecimalStatus::kTooManyDecimals, 0};
      }
      round_up = round_up || (index == kept && digit >= 5);
    } else if (!append(digit)) {
      return {DecimalStatus::kTooLarge, 0};
    }
    ++index;
  }
  for (; index < kept && value != 0; ++index) {
    if (!append(0)) {
      return {DecimalStatus::kTooLarge, 0};
    }
  }
  if (round_up) {
    if (value == kMax) {
      return {DecimalStatus::kTooLarge, 0};
    }
    ++value;
  }
  return {DecimalStatus::kOk, negative ? -value : value};
}

std::optional<double> ParseDouble(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) {
    return std::nullopt;
  }
  return value;
}

std::optional<int64_t> ParseInteger(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return value;
}

}  // namespace kvbench
