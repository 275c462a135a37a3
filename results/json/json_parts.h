#pragma once

#include <cstddef>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "results/json/json_scanner.h"

namespace kvbench {

/// A part of a text is no JSON. Thrown inside of WalkJson, which says where it stops being JSON.
struct NoJson {};

/// A part of the text that WalkJson goes through. Throws NoJson.
template <typename Json = nlohmann::json>
Json ParsePart(std::string_view part) {
  Json json = Json::parse(part.begin(), part.end(), nullptr, false);
  if (json.is_discarded()) {
    throw NoJson();
  }
  return json;
}

/// How a large text is read, an element at a time.
struct JsonWalk {
  /// Lists of the top object whose elements are handed over one by one.
  std::vector<std::string_view> lists;
  /// Another member of the top object as JSON text; one of the lists as "[]", before its elements.
  std::function<void(std::string_view key, std::string_view value)> on_member;
  /// An element of a list, which comes next in the scanner: it has to be passed over.
  std::function<void(std::string_view list, size_t index, JsonScanner& scanner)> on_element;
  /// Told after each element how many bytes of the text are not looked at any more, but for an
  /// error.
  std::function<void(size_t)> on_progress = nullptr;
};

/// Goes through a text whose JSON is one object. Throws Error, with the line, for text that
/// is no JSON or ends too early.
void WalkJson(std::string_view text, const JsonWalk& walk);

/// An object without some of its members.
struct CutObject {
  std::string rest;                      ///< JSON text
  std::vector<std::string_view> values;  ///< of the members that were cut out: "null" for none
};

/// Cuts members out of the object that comes next, so that the rest can be parsed by itself. Throws
/// Error, which calls it `name`, where something else comes, and NoJson.
CutObject CutMembers(JsonScanner& scanner, const std::string& name,
                     const std::vector<std::string_view>& keys);

}  // namespace kvbench
