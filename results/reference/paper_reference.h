#pragma once

#include <string_view>

namespace kvbench {

/// results/reference/paper.json as built into the program: what the vLLM paper and others
/// published, the tolerances of ours, and where each comes from. bench/paper/row.h reads it.
std::string_view PaperReference();

}  // namespace kvbench
