#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bench/paper/row.h"

namespace kvbench {

enum class PaperFormat { kText, kMarkdown, kLatex, kCsv };

/// text, markdown, latex or csv. Throws Error for another one.
PaperFormat ParsePaperFormat(std::string_view text);

/// The sections as tables: text fits 100 columns; LaTeX is a tabular for each section; CSV is one
/// table of all rows, numbers in full, with a heading line.
std::string PaperTables(const std::vector<PaperSection>& sections, PaperFormat format);

}  // namespace kvbench
