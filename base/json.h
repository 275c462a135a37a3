#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace kvbench {

// The library's parser and writer are templates that take seconds to compile: here that is once.

/// Throws nlohmann::json::exception: a parse_error, or out_of_range for a number that is too large.
nlohmann::json ParseJson(std::string_view text);

/// In one line, or with so many spaces for each level. Bytes that are not UTF-8 become U+FFFD.
std::string DumpJson(const nlohmann::json& value, int indent = -1);
std::string DumpJson(const nlohmann::ordered_json& value, int indent = -1);

}  // namespace kvbench
