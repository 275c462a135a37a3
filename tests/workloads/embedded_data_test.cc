#include "workloads/embedded_data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "tests/workloads/testing.h"

namespace kvbench {
namespace {

std::string FileText(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(EmbeddedDataTest, HoldsTheFilesByteForByte) {
  const std::filesystem::path root = std::filesystem::path(KVBENCH_SOURCE_DIR) / "workloads";
  int files = 0;
  for (const char* folder : {"data", "suites"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root / folder)) {
      if (entry.path().extension() == ".json") {
        const std::string name = std::filesystem::relative(entry.path(), root).generic_string();
        EXPECT_TRUE(EmbeddedData(name) == FileText(entry.path())) << name;
        ++files;
      }
    }
  }
  EXPECT_GE(files, 12);
}

TEST(EmbeddedDataTest, UnknownName) {
  EXPECT_EQ(SentenceOf([] { EmbeddedData("data/no.json"); }),
            "no data file 'data/no.json' is built into this program");
}

TEST(SuiteNamesTest, AreThoseOfTheFolder) {
  const std::vector<std::string> names = SuiteNames();
  EXPECT_THAT(names, testing::IsSupersetOf({"quick", "paper/fig2", "paper/heads"}));
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
}

}  // namespace
}  // namespace kvbench
