#include "kernels/simulator/fault.h"

#include <string_view>

namespace kvbench {

std::string ToString(const Site& site) {
  std::string_view file = site.file;
  for (const std::string_view root : {"/tests/", "/kernels/"}) {
    if (const size_t at = file.rfind(root); at != std::string_view::npos) {
      file.remove_prefix(at + 1);
      break;
    }
  }
  return std::string(file) + ":" + std::to_string(site.line);
}

}  // namespace kvbench
