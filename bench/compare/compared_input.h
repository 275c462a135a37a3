#pragma once

#include <string>

#include "results/compare/compared_file.h"

namespace kvbench {

/// Reads a results file, or one of kvbench_micro, for a comparison. Throws Error, a sentence with
/// the file's name.
/// @param timeline keep when steps ended
ComparedFile ReadComparedFile(const std::string& path, bool timeline = false);

}  // namespace kvbench
