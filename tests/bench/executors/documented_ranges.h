#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <string>
#include <vector>

namespace kvbench {

/// A row of the table in docs/profiling.md.
struct DocumentedRange {
  std::vector<std::string> inside;
  std::string category;
  std::vector<std::string> numbers;

  bool MayLieIn(const std::string& parent) const {
    return parent.empty() ? inside.empty()
                          : std::find(inside.begin(), inside.end(), parent) != inside.end();
  }
};

/// The words in backticks of a table's cell.
inline std::vector<std::string> WordsOf(const std::string& cell) {
  std::vector<std::string> words;
  for (size_t begin = cell.find('`'); begin != std::string::npos; begin = cell.find('`', begin)) {
    const size_t end = cell.find('`', begin + 1);
    words.push_back(cell.substr(begin + 1, end - begin - 1));
    begin = end + 1;
  }
  return words;
}

/// The table of ranges, by name: what the ranges of a run are compared with.
inline std::map<std::string, DocumentedRange> DocumentedRanges() {
  std::map<std::string, DocumentedRange> ranges;
  std::ifstream file(KVBENCH_SOURCE_DIR "/docs/profiling.md");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("| `", 0) != 0) {
      continue;
    }
    std::vector<std::string> cells;
    for (size_t begin = 1; begin < line.size();) {
      const size_t end = std::min(line.find('|', begin), line.size());
      cells.push_back(line.substr(begin, end - begin));
      begin = end + 1;
    }
    if (cells.size() != 5 || WordsOf(cells[0]).size() != 1 || WordsOf(cells[2]).size() != 1) {
      ADD_FAILURE() << "docs/profiling.md: not a row of the table of ranges: " << line;
      continue;
    }
    ranges[WordsOf(cells[0])[0]] = {WordsOf(cells[1]), WordsOf(cells[2])[0], WordsOf(cells[3])};
  }
  return ranges;
}

}  // namespace kvbench
