#pragma once

#include <cstdint>
#include <string_view>

namespace kvbench {

// Sizes, times and numbers as people write them on a command line. All throw Error with a sentence
// that names the text and shows what would be right.

/// "12GiB", "256MiB", "1.5GB", "4096": bytes. KiB, MiB, GiB, TiB are powers of 1024; KB, MB, GB, TB
/// powers of 1000.
int64_t ParseBytes(std::string_view text);

/// "500ms", "10s", "2min", "1h", "250us", "7ns"; a bare number is seconds. Whole picoseconds, at
/// most 100 days.
int64_t ParsePicoseconds(std::string_view text);

/// A whole number of at least `least`, digits only.
int64_t ParseInteger(std::string_view text, int64_t least);

/// A finite decimal number.
double ParseNumber(std::string_view text);

/// "on" or "off", also true and false.
bool ParseOnOff(std::string_view text);

}  // namespace kvbench
