#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace kvbench {

/// Nanoseconds since 1970 of "2023-11-16 18:15:46.6805900": date, a blank or T, time, up to 9
/// decimals, and an optional zone (Z, +00:00). Nothing where the text is no such time or the year
/// is not 1970..2200.
std::optional<int64_t> ParseTimestamp(std::string_view text);

}  // namespace kvbench
