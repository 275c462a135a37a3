#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace kvbench {

/// What a large file of results is split into.
struct JsonParts {
  /// Arrays of the top level whose elements are handed over one by one.
  std::vector<std::string_view> split = {"runs", "benchmarks"};
  /// Keys of an element whose values nobody wants: they become null, and are not looked at beyond
  /// their brackets and quotes.
  std::vector<std::string_view> skipped;
  /// A key of the top level with its value as JSON text; for a split array "[]", before its
  /// elements.
  std::function<void(std::string_view key, const std::string& value)> on_value;
  /// An element as JSON text, and its index in its array.
  std::function<void(std::string_view key, size_t index, const std::string& element)> on_element;
};

/// Reads a file whose JSON is one object, element by element, so that neither time nor memory go
/// into what is skipped. The texts handed over are balanced, and checked no further. Throws
/// BadResults naming the file, and the line where it can be said: it cannot be read, is no object,
/// ends too early.
void SplitJsonFile(const std::string& path, const JsonParts& parts);

}  // namespace kvbench
