#include "base/markup.h"

#include <cstddef>
#include <cstdint>

namespace kvbench {
namespace {

struct Character {
  uint32_t code = 0;
  size_t bytes = 0;  ///< 0: no UTF-8
};

/// The character that a text begins with; it is not empty.
Character FirstCharacter(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  if (byte(0) < 0x80) {
    return {byte(0), 1};
  }
  const size_t bytes = byte(0) >= 0xf0 ? 4 : byte(0) >= 0xe0 ? 3 : 2;
  if (byte(0) < 0xc2 || byte(0) > 0xf4 || text.size() < bytes) {
    return {};
  }
  uint32_t code = byte(0) & (0x7fU >> bytes);
  for (size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0) != 0x80) {
      return {};
    }
    code = code << 6 | (byte(i) & 0x3fU);
  }
  // Written with more bytes than it needs, or half of a pair of UTF-16.
  const uint32_t least = bytes == 2 ? 0x80 : bytes == 3 ? 0x800 : 0x10000;
  const bool surrogate = code >= 0xd800 && code <= 0xdfff;
  return code < least || code > 0x10ffff || surrogate ? Character{} : Character{code, bytes};
}

/// XML's Char, less those that it discourages: DEL and the control characters behind it.
bool MayStandInXml(uint32_t code) {
  const bool control =
      (code < 0x20 && code != '\t' && code != '\n') || (code >= 0x7f && code < 0xa0);
  return !control && code != 0xfffe && code != 0xffff;
}

}  // namespace

std::string EscapeMarkup(std::string_view text) {
  std::string escaped;
  while (!text.empty()) {
    const Character first = FirstCharacter(text);
    const size_t bytes = first.bytes == 0 ? 1 : first.bytes;
    switch (first.code) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        if (first.bytes > 0 && MayStandInXml(first.code)) {
          escaped += text.substr(0, bytes);
        } else {
          escaped += '?';
        }
    }
    text.remove_prefix(bytes);
  }
  return escaped;
}

}  // namespace kvbench
