#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace kvbench {

/// A folder for files that nobody needs later; it is gone with the object. Throws Error.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// How a program ended.
struct ChildOutcome {
  int exit_code = 0;      ///< 128 + the signal where one ended it
  std::string last_line;  ///< of what it wrote to standard error
};

/// Runs a program (a path, or a name that PATH finds) and waits for it; what it prints goes
/// nowhere. Throws Error where it cannot be started. `scratch` is a folder that may be written to.
ChildOutcome RunChild(const std::string& program, const std::vector<std::string>& arguments,
                      const std::filesystem::path& scratch);

}  // namespace kvbench
