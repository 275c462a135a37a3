#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "results/record/record.h"

namespace kvbench {

/// The list of points that `text` is. Timelines are most of a results file, so that no JSON values
/// are made of them. Throws Error, which calls the list `name`; text that is no JSON is one
/// as well.
std::vector<TimelinePoint> ParseTimeline(std::string_view text, const std::string& name);

}  // namespace kvbench
