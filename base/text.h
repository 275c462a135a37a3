#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kvbench {

/// 1234567 as "1,234,567", whatever the locale is.
std::string Thousands(int64_t value);

/// 1234.56 with one decimal as "1,234.6"; "-" for nothing, NaN and infinity.
std::string Thousands(const std::optional<double>& value, int decimals);

/// Bytes in the largest binary unit that leaves at least 1: "30.8 MiB", "12 GiB", "512 B".
std::string Bytes(int64_t bytes);

/// The same with so many decimals, whole numbers too: "2.00 GiB". Negative ones have their sign.
std::string Bytes(int64_t bytes, int decimals);

/// What a terminal can show and a column can count on: every byte outside printable ASCII becomes
/// '?'.
std::string PrintableAscii(std::string_view text);

/// Breaks a sentence at spaces into lines of at most `columns`, later lines indented by `hanging`
/// spaces. A word longer than a line is cut.
std::string Wrap(std::string_view text, size_t columns, size_t hanging);

/// "a", "a and b", "a, b and c".
std::string JoinWords(const std::vector<std::string>& words);

}  // namespace kvbench
