#include "base/units.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <string>

#include "base/error.h"

namespace kvbench {

namespace {

struct Unit {
  std::string_view name;
  double factor;
};

/// Splits "1.5GiB" into number and unit and multiplies; an empty unit must be in the list to be
/// allowed.
template <size_t N>
double ParseWithUnit(std::string_view text, const std::array<Unit, N>& units, const char* what,
                     const char* example) {
  const char* end = text.data() + text.size();
  double value = 0;
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc() && std::isfinite(value) && value >= 0) {
    const std::string_view unit(rest, static_cast<size_t>(end - rest));
    for (const Unit& known : units) {
      if (unit == known.name) {
        return value * known.factor;
      }
    }
  }
  throw Error(fmt::format("'{}' is not a {}: write {}", text, what, example));
}

}  // namespace

int64_t ParseBytes(std::string_view text) {
  constexpr std::array<Unit, 10> kUnits = {{{"", 1},
                                            {"B", 1},
                                            {"KiB", 1024.0},
                                            {"MiB", 1048576.0},
                                            {"GiB", 1073741824.0},
                                            {"TiB", 1099511627776.0},
                                            {"KB", 1e3},
                                            {"MB", 1e6},
                                            {"GB", 1e9},
                                            {"TB", 1e12}}};
  constexpr const char* kExample = "a number with KiB, MiB, GiB, KB, MB or GB, for example 12GiB";
  const double bytes = ParseWithUnit(text, kUnits, "size", kExample);
  if (bytes > 1e15) {
    throw Error(fmt::format("'{}' is more memory than any machine has: at most 1000TB", text));
  }
  return static_cast<int64_t>(bytes);
}

int64_t ParsePicoseconds(std::string_view text) {
  constexpr std::array<Unit, 7> kUnits = {{{"", 1e12},
                                           {"s", 1e12},
                                           {"ms", 1e9},
                                           {"us", 1e6},
                                           {"ns", 1e3},
                                           {"min", 6e13},
                                           {"h", 3.6e15}}};
  constexpr const char* kExample = "a number with ns, us, ms, s, min or h, for example 500ms";
  const double picoseconds = ParseWithUnit(text, kUnits, "time", kExample);
  if (picoseconds > 8.64e18) {
    throw Error(fmt::format("'{}' is longer than the 100 days that a run may last", text));
  }
  return static_cast<int64_t>(picoseconds);
}

int64_t ParseInteger(std::string_view text, int64_t least) {
  int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || rest != end || value < least) {
    throw Error(fmt::format("'{}' is not a whole number of at least {}", text, least));
  }
  return value;
}

double ParseNumber(std::string_view text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || rest != end || !std::isfinite(value)) {
    throw Error(fmt::format("'{}' is not a number", text));
  }
  return value;
}

bool ParseOnOff(std::string_view text) {
  if (text == "on" || text == "true") {
    return true;
  }
  if (text == "off" || text == "false") {
    return false;
  }
  throw Error(fmt::format("'{}' is neither on nor off", text));
}

}  // namespace kvbench
