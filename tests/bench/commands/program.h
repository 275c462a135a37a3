#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace kvbench {

/// What a program said.
struct Outcome {
  int code = -1;
  std::string out;
  std::string err;
};

inline std::string ReadFile(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// Runs a shell command in a folder.
inline Outcome RunShell(const std::filesystem::path& folder, const std::string& command) {
  const std::filesystem::path base =
      folder / (std::string(".") + testing::UnitTest::GetInstance()->current_test_info()->name());
  const std::string out = base.string() + ".out";
  const std::string err = base.string() + ".err";
  const std::string line =
      "cd '" + folder.string() + "' && " + command + " >'" + out + "' 2>'" + err + "'";
  const int status = std::system(line.c_str());
  Outcome outcome = {WEXITSTATUS(status), ReadFile(out), ReadFile(err)};
  std::filesystem::remove(out);
  std::filesystem::remove(err);
  return outcome;
}

/// Runs the program there.
inline Outcome RunKvbench(const std::filesystem::path& folder, const std::string& arguments) {
  return RunShell(folder, "'" KVBENCH_PROGRAM "' " + arguments);
}

}  // namespace kvbench
