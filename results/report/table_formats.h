#pragma once

#include <string>
#include <vector>

#include "results/report/report_table.h"

namespace kvbench {

/// GitHub's Markdown: a heading, the facts, the table and its notes for each.
std::string MarkdownTables(const std::vector<ReportTable>& tables);

/// A `tabular` in a `table` with the title as its caption and the rest as comments for each; needs
/// no package.
std::string LatexTables(const std::vector<ReportTable>& tables);

/// Heading lines and rows, numbers in full, an empty line between two tables. The first column is
/// the table's title.
std::string CsvTables(const std::vector<ReportTable>& tables);

}  // namespace kvbench
