#pragma once

#include <string>
#include <vector>

namespace kvbench {

/// A table for a terminal: two spaces before each line and between columns, each column as wide as
/// its widest cell. The first row is the heading.
class TextTable {
 public:
  enum class Align { kLeft, kRight };

  explicit TextTable(std::vector<Align> columns) : columns_(std::move(columns)) {}

  /// Precondition: one cell for each column.
  void Add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }

  std::string Text() const;

 private:
  std::vector<Align> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace kvbench
