#include "bench/compare/child_program.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <system_error>

#include "base/error.h"
#include "base/quoting.h"

namespace kvbench {
namespace {

std::string LastLine(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string last;
  for (std::string line; std::getline(file, line);) {
    if (!line.empty()) {
      last = line;
    }
  }
  return last;
}

/// Where a child's standard output and error go.
class FileActions {
 public:
  FileActions() { posix_spawn_file_actions_init(&actions_); }
  ~FileActions() { posix_spawn_file_actions_destroy(&actions_); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;

  void Open(int descriptor, const char* path) {
    posix_spawn_file_actions_addopen(&actions_, descriptor, path, O_WRONLY | O_CREAT | O_TRUNC,
                                     0600);
  }
  const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
};

}  // namespace

TemporaryFolder::TemporaryFolder() {
  std::error_code error;
  const std::filesystem::path base = std::filesystem::temp_directory_path(error);
  std::string name = ((error ? "/tmp" : base) / "kvbench-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) {
    throw Error(fmt::format("cannot make a temporary folder {}: {}", name, std::strerror(errno)));
  }
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

ChildOutcome RunChild(const std::string& program, const std::vector<std::string>& arguments,
                      const std::filesystem::path& scratch) {
  const std::string errors = (scratch / "stderr").string();
  FileActions actions;
  actions.Open(STDOUT_FILENO, "/dev/null");
  actions.Open(STDERR_FILENO, errors.c_str());
  std::vector<std::string> words = {program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (std::string& word : words) {
    argv.push_back(word.data());
  }
  argv.push_back(nullptr);
  pid_t child = 0;
  const int failure =
      posix_spawnp(&child, program.c_str(), actions.get(), nullptr, argv.data(), environ);
  if (failure != 0) {
    throw Error(fmt::format("cannot run {}: {}", ShownPath(program), std::strerror(failure)));
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) {
      throw Error(fmt::format("cannot wait for {}: {}", ShownPath(program), std::strerror(errno)));
    }
  }
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return {code, LastLine(errors)};
}

}  // namespace kvbench
