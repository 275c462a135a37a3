#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace kvbench {

// Cuts JSON text at its brackets, so that a part of a large file can be parsed by itself, or passed
// over. Values are not checked here: whoever parses the parts does.

/// Calls `on_member(key, value)` for each member of the object that `text` is: the key as it stands
/// between its quotes, the value as text. Space around the object is passed over. False, after the
/// members that it found, where the text is no whole object, or once on_member says false.
bool ForEachMember(std::string_view text,
                   const std::function<bool(std::string_view, std::string_view)>& on_member);

/// The same for the elements of an array.
bool ForEachElement(std::string_view text, const std::function<bool(std::string_view)>& on_element);

/// What keeps text from being JSON, as a sentence with line and column; empty where nothing does.
std::string WhyNotJson(std::string_view text);

}  // namespace kvbench
