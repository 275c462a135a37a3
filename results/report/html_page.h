#pragma once

#include <iosfwd>
#include <string>
#include <utility>
#include <vector>

#include "results/report/chart.h"

namespace kvbench {

/// One file that the page shows: its path, and what ran and where, as name and text.
struct PageSource {
  std::string path;
  std::vector<std::pair<std::string, std::string>> facts;
};

struct HtmlPage {
  std::string title;
  std::string program;  ///< that wrote the page: "kvbench 0.1.0"
  std::vector<PageSource> sources;
  std::vector<ReportSection> sections;  ///< empty ones are left out
};

/// Whether the charting library was there when kvbench was built; without it there is no page.
bool CanWriteHtml();

/// What ran and where, from the head of a results file.
PageSource DescribeSource(const std::string& path, const ResultsFile& file);

/// One page that needs no other file and no network: tables as HTML, charts drawn by the embedded
/// library from the JSON in it, which holds every number with its label and key. Precondition:
/// CanWriteHtml().
void WriteHtml(const HtmlPage& page, std::ostream& out);

}  // namespace kvbench
