#include "bench/executors/cpu_caches.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <map>

namespace kvbench {
namespace {

namespace fs = std::filesystem;

/// A folder of files, gone with the object.
class FileTree {
 public:
  explicit FileTree(const std::map<std::string, std::string>& files)
      : root_(fs::path(testing::TempDir()) / ("cpu_caches_test." + std::to_string(getpid()))) {
    for (const auto& [name, text] : files) {
      fs::create_directories((root_ / name).parent_path());
      std::ofstream(root_ / name) << text << "\n";
    }
  }
  ~FileTree() { fs::remove_all(root_); }
  const fs::path& root() const { return root_; }

 private:
  fs::path root_;
};

void AddCache(std::map<std::string, std::string>& files, int core, int index, int level,
              const std::string& type, const std::string& size, const std::string& sharers) {
  const std::string folder =
      "cpu" + std::to_string(core) + "/cache/index" + std::to_string(index) + "/";
  files[folder + "level"] = std::to_string(level);
  files[folder + "type"] = type;
  files[folder + "size"] = size;
  files[folder + "shared_cpu_list"] = sharers;
}

TEST(CpuCachesTest, CountsInstancesByTheCoresThatShareThem) {
  std::map<std::string, std::string> files;
  for (int core = 0; core < 12; ++core) {
    AddCache(files, core, 0, 1, "Data", "48K", std::to_string(core));
    AddCache(files, core, 1, 1, "Instruction", "32K", std::to_string(core));
    AddCache(files, core, 3, 3, "Unified", core < 8 ? "32M" : "16384K", core < 8 ? "0-7" : "8-11");
  }
  files["cpufreq/boost"] = "1";
  files["cpu0/cache/uevent"] = "";
  files["cpu1/cache/index7/level"] = "4";  // says no size
  const FileTree tree(files);
  const std::vector<CpuCache> caches = CpuCaches(tree.root());
  ASSERT_EQ(caches.size(), 3U);
  EXPECT_EQ(caches[0].level, 1);
  EXPECT_EQ(caches[0].type, "Data");
  EXPECT_EQ(caches[0].bytes, 48 << 10);
  EXPECT_EQ(caches[0].instances, 12);
  EXPECT_EQ(caches[1].type, "Instruction");
  EXPECT_EQ(caches[2].level, 3);
  EXPECT_EQ(caches[2].bytes, 32 << 20);
  EXPECT_EQ(caches[2].instances, 2);
  EXPECT_EQ(caches[2].cores, 12);
}

TEST(CpuCachesTest, NothingWhereNothingIsSaid) {
  EXPECT_TRUE(CpuCaches("/no/such/folder").empty());
}

TEST(MemoryWorkingSetTest, IsFourTimesTheLastLevelWithinLimits) {
  const std::vector<CpuCache> caches = {
      {.level = 2, .type = "Unified", .bytes = int64_t{1} << 20, .instances = 16},
      {.level = 3, .type = "Unified", .bytes = int64_t{48} << 20, .instances = 4}};
  EXPECT_EQ(MemoryWorkingSet(caches, 1), int64_t{192} << 20);
  EXPECT_EQ(MemoryWorkingSet(caches, 3), int64_t{576} << 20);
  EXPECT_EQ(MemoryWorkingSet(caches, 64), int64_t{768} << 20);
  EXPECT_EQ(MemoryWorkingSet({}, 1), int64_t{128} << 20);
  const std::vector<CpuCache> huge = {
      {.level = 3, .type = "Unified", .bytes = int64_t{1} << 30, .instances = 2}};
  EXPECT_EQ(MemoryWorkingSet(huge, 2), int64_t{1} << 30);
}

}  // namespace
}  // namespace kvbench
