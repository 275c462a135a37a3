#include "base/quoting.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace kvbench {
namespace {

constexpr size_t kMaxPathBytes = 160;

bool IsPrintable(char c) { return c >= 0x20 && c < 0x7f; }

void AppendEscaped(char c, std::string& out) {
  if (IsPrintable(c)) {
    out += c;
  } else {
    out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  }
}

/// Bytes of the well-formed UTF-8 sequence (two bytes or more) that starts there, or 0. The C1
/// control characters count as malformed: a terminal may act on them.
size_t Utf8SequenceLength(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  size_t length = 0;
  if (byte(0) >= 0xc2 && byte(0) <= 0xdf) {
    length = 2;
  } else if (byte(0) >= 0xe0 && byte(0) <= 0xef) {
    length = 3;
  } else if (byte(0) >= 0xf0 && byte(0) <= 0xf4) {
    length = 4;
  }
  if (length == 0 || text.size() < length) {
    return 0;
  }
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) {
      return 0;
    }
  }
  const bool c1_control = byte(0) == 0xc2 && byte(1) < 0xa0;
  const bool overlong = (byte(0) == 0xe0 && byte(1) < 0xa0) || (byte(0) == 0xf0 && byte(1) < 0x90);
  const bool surrogate_or_past =
      (byte(0) == 0xed && byte(1) >= 0xa0) || (byte(0) == 0xf4 && byte(1) >= 0x90);
  return c1_control || overlong || surrogate_or_past ? 0 : length;
}

size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) {
    row[j] = j;
  }
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

}  // namespace

std::string Quoted(std::string_view text, size_t max_bytes) {
  std::string out = "'";
  for (const char c : text.substr(0, max_bytes)) {
    AppendEscaped(c, out);
  }
  out += text.size() > max_bytes ? "...'" : "'";
  return out;
}

std::string ShownPath(std::string_view path) {
  std::string out;
  if (path.size() > kMaxPathBytes) {
    path.remove_prefix(path.size() - kMaxPathBytes);
    // Not in the middle of a character.
    while (!path.empty() && (static_cast<unsigned char>(path[0]) & 0xc0) == 0x80) {
      path.remove_prefix(1);
    }
    out = "...";
  }
  while (!path.empty()) {
    const size_t length = std::max<size_t>(1, Utf8SequenceLength(path));
    if (length == 1) {
      AppendEscaped(path[0], out);
    } else {
      out += path.substr(0, length);
    }
    path.remove_prefix(length);
  }
  return out;
}

std::vector<std::string> CloseNames(std::string_view text,
                                    const std::vector<std::string>& candidates, size_t count) {
  std::vector<std::pair<size_t, std::string>> close;
  for (const std::string& candidate : candidates) {
    const size_t distance = EditDistance(text.substr(0, 100), candidate);
    const bool prefix =
        text.size() >= 2 && (candidate.starts_with(text) || text.starts_with(candidate));
    if (prefix || distance * 3 <= std::max(text.size(), candidate.size())) {
      close.emplace_back(distance, candidate);
    }
  }
  std::stable_sort(close.begin(), close.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> names;
  for (auto& [distance, name] : close) {
    if (names.size() < count) {
      names.push_back(std::move(name));
    }
  }
  return names;
}

}  // namespace kvbench
