#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace kvbench {
namespace {

/// Puts commas into the digits before the decimal point.
std::string WithCommas(std::string number) {
  const size_t start = number.front() == '-' ? 1 : 0;
  const size_t point = std::min(number.find('.'), number.size());
  for (size_t at = point; at > start + 3;) {
    at -= 3;
    number.insert(at, 1, ',');
  }
  return number;
}

struct Scaled {
  double value;
  const char* unit;
};

Scaled ScaleBytes(int64_t bytes) {
  constexpr std::array<const char*, 5> kUnits = {"B", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes);
  size_t unit = 0;
  while (std::abs(value) >= 1024 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  return {value, kUnits[unit]};
}

}  // namespace

std::string Thousands(int64_t value) { return WithCommas(fmt::format("{}", value)); }

std::string Thousands(const std::optional<double>& value, int decimals) {
  if (!value || !std::isfinite(*value)) {
    return "-";
  }
  return WithCommas(fmt::format("{:.{}f}", *value, decimals));
}

std::string Bytes(int64_t bytes) {
  const Scaled scaled = ScaleBytes(bytes);
  const bool whole = scaled.value == std::floor(scaled.value);
  return Thousands(scaled.value, whole ? 0 : 1) + " " + scaled.unit;
}

std::string Bytes(int64_t bytes, int decimals) {
  const Scaled scaled = ScaleBytes(bytes);
  const bool plain = std::string_view(scaled.unit) == "B";
  return Thousands(scaled.value, plain ? 0 : decimals) + " " + scaled.unit;
}

std::string PrintableAscii(std::string_view text) {
  std::string result(text);
  std::replace_if(
      result.begin(), result.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return result;
}

std::string Wrap(std::string_view text, size_t columns, size_t hanging) {
  const std::string margin(hanging, ' ');
  std::string result;
  std::string line;
  const auto flush = [&] {
    result += (result.empty() ? "" : "\n" + margin) + line;
    line.clear();
  };
  const auto room = [&] { return result.empty() ? columns : columns - hanging; };
  while (!text.empty()) {
    const size_t space = std::min(text.find(' '), text.size());
    const std::string word(text.substr(0, space));
    text.remove_prefix(std::min(space + 1, text.size()));
    if (!line.empty() && line.size() + 1 + word.size() > room()) {
      flush();
    }
    line += (line.empty() ? "" : " ") + word;
    while (line.size() > room()) {
      const std::string rest = line.substr(room());
      line.resize(room());
      flush();
      line = rest;
    }
  }
  flush();
  return result;
}

std::string JoinWords(const std::vector<std::string>& words) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i) {
    text += i == 0 ? "" : i + 1 == words.size() ? " and " : ", ";
    text += words[i];
  }
  return text;
}

}  // namespace kvbench
