#pragma once

#include <string_view>

namespace kvbench {

// What this program was built from; the values are set by bench/machine/WriteVersion.cmake at every
// build.
std::string_view Version();  ///< "0.1.0"
std::string_view Commit();   ///< hash, "-dirty" after it for a changed tree; "" outside a checkout
std::string_view BuildType();  ///< "Release"
std::string_view Compiler();   ///< "GNU 12.2.0"

}  // namespace kvbench
