#pragma once

#include <string>
#include <vector>

#include "results/table/table_rows.h"

namespace kvbench {

/// One line of what a group's runs have in common.
struct HeadingLine {
  std::string name;  ///< "model", "trace", "limits", "run"
  std::string text;
};

struct GroupHeading {
  std::string title;               ///< "twin-mha, trace sharegpt:scale=0.25"
  std::vector<HeadingLine> lines;  ///< only those that say something
};

/// What does not vary in the group: what does stands in its rows.
GroupHeading DescribeGroup(const TableGroup& group);

}  // namespace kvbench
