#pragma once

#include <iosfwd>
#include <nlohmann/json_fwd.hpp>

namespace kvbench {

/// Writes a JSON value so that people and line-based tools can read it: what fits in
/// `columns` goes on one line, objects are broken at each key, long arrays of numbers are filled
/// like a paragraph, and small objects in an array (a timeline's points) take one line each.
/// `indent` is the column, in spaces, of the line that the value begins on; the first line is not
/// indented. Doubles are the shortest text that reads back to the same bits. Bytes that are not
/// UTF-8 become U+FFFD.
void WriteJson(const nlohmann::ordered_json& value, int indent, std::ostream& out,
               int columns = 100);

}  // namespace kvbench
