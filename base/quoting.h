#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kvbench {

/// Text of a user or a file as an error message may show it: in quotes, cut to `max_bytes`, with
/// everything outside printable ASCII escaped. "ab\x00" becomes 'ab\x00'.
std::string Quoted(std::string_view text, size_t max_bytes = 40);

/// A file's name as an error message shows it: no quotes, control characters escaped, a long path
/// cut at the front. Valid UTF-8 stays as it is.
std::string ShownPath(std::string_view path);

/// The candidates that are nearly `text` (edit distance at most a third of its length, or one
/// starts with the other), closest first, at most `count`.
std::vector<std::string> CloseNames(std::string_view text,
                                    const std::vector<std::string>& candidates, size_t count = 3);

}  // namespace kvbench
