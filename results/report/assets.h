#pragma once

#include <string_view>

namespace kvbench {

// Files that the page is made of, as built into the library.

/// Chart.js, from Debian's package; empty where that was not installed when kvbench was configured.
std::string_view ChartLibrary();
std::string_view PageStyle();
std::string_view PageScript();

/// The Debian package that ChartLibrary is from.
inline constexpr const char* kChartLibraryPackage = "libjs-chart.js";

}  // namespace kvbench
