#include "results/record/schema_version.h"

#include <fmt/format.h>

#include <charconv>
#include <string>

#include "base/error.h"
#include "base/text.h"
#include "results/record/record.h"

namespace kvbench {

int64_t MinorVersion(const JsonValue& schema_version) {
  if (schema_version.is_null()) {
    throw Error("there is no schema_version: this is no results file of kvbench");
  }
  const std::string version = schema_version.String();
  const std::string ours = ResultsFile::kSchemaVersion;
  const std::string major = ours.substr(0, ours.find('.') + 1);
  const std::string minor = version.starts_with(major) ? version.substr(major.size()) : "";
  int64_t number = -1;
  const auto read = std::from_chars(minor.data(), minor.data() + minor.size(), number);
  if (read.ec != std::errc() || read.ptr != minor.data() + minor.size() || number < 0) {
    throw Error(fmt::format(
        "schema_version is '{}'; this kvbench reads {}x (it writes {}): use the one that wrote it",
        PrintableAscii(version), major, ours));
  }
  return number;
}

}  // namespace kvbench
