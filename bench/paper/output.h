#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "bench/paper/row.h"
#include "bench/paper/runner.h"

namespace kvbench {

enum class PaperFormat { kText, kMarkdown, kLatex, kCsv };

/// text, markdown, latex or csv. Throws Error for another one.
PaperFormat ParsePaperFormat(std::string_view text);

/// The sections as tables: text fits 100 columns; LaTeX is a tabular for each section; CSV is one
/// table of all rows, numbers in full, with a heading line.
std::string PaperTables(const std::vector<PaperSection>& sections, PaperFormat format);

/// Every row of the sections, and of every suite that ran the means over seeds of its records, runs
/// that differ in nothing but their seed together. "format" is "kvbench paper 1".
nlohmann::ordered_json PaperJson(const std::vector<PaperSection>& sections,
                                 const PaperRunner& runner, const std::string& command_line);

}  // namespace kvbench
