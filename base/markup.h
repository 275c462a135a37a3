#pragma once

#include <string>
#include <string_view>

namespace kvbench {

/// Text for an element or an attribute (in double quotes) of XML 1.0 or HTML: what begins markup is
/// written as an entity. What XML cannot hold becomes '?': control characters but tab and newline,
/// and each byte that is no UTF-8. File names and labels may hold anything.
std::string EscapeMarkup(std::string_view text);

}  // namespace kvbench
