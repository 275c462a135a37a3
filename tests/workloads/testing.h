#pragma once

#include <filesystem>
#include <string>

#include "base/error.h"

namespace kvbench {

/// The folder of public traces and model configurations that lies beside the repository, where
/// there is one.
inline std::filesystem::path SharedData() {
  return std::filesystem::path(KVBENCH_SOURCE_DIR) / ".." / "shared" / "data";
}

/// The sentence of the Error that a call throws; empty where it throws none.
template <typename Call>
std::string SentenceOf(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace kvbench

/// Skips a test whose files are not there.
#define KVBENCH_NEEDS_SHARED_DATA()                                                      \
  if (!std::filesystem::exists(::kvbench::SharedData() / "traces")) {                    \
    GTEST_SKIP() << "the public traces are not at " << ::kvbench::SharedData().string(); \
  }
