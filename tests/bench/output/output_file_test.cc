#include "bench/output/output_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <iostream>
#include <iterator>
#include <ostream>
#include <stdexcept>

#include "tests/workloads/testing.h"

namespace kvbench {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class OutputFileTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) / ("output_file_test." + std::to_string(getpid()));
    fs::create_directory(folder_);
  }
  void TearDown() override {
    fs::permissions(folder_, fs::perms::owner_all);
    fs::remove_all(folder_);
  }

  std::string Path(const char* name) const { return (folder_ / name).string(); }
  int64_t Files() const {
    return std::distance(fs::directory_iterator(folder_), fs::directory_iterator());
  }
  static std::string TextOf(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  fs::path folder_;
};

TEST_F(OutputFileTest, WritesAndReplaces) {
  WriteFileAtomically(Path("a"), [](std::ostream& out) { out << "first"; });
  EXPECT_EQ(TextOf(Path("a")), "first");
  const std::string large(1'000'000, 'x');
  WriteFileAtomically(Path("a"), [&](std::ostream& out) { out << large; });
  EXPECT_EQ(TextOf(Path("a")), large);
  EXPECT_EQ(Files(), 1) << "no temporary file is left";
}

TEST_F(OutputFileTest, NewFilesHaveOrdinaryPermissions) {
  WriteFileAtomically(Path("a"), [](std::ostream& out) { out << "x"; });
  std::ofstream(Path("b")) << "x";
  EXPECT_EQ(fs::status(Path("a")).permissions(), fs::status(Path("b")).permissions());
}

TEST_F(OutputFileTest, AWriterThatThrowsLeavesTheOldFile) {
  WriteFileAtomically(Path("a"), [](std::ostream& out) { out << "old"; });
  EXPECT_THROW(WriteFileAtomically(Path("a"),
                                   [](std::ostream& out) {
                                     out << std::string(100'000, 'n');
                                     throw std::runtime_error("interrupted");
                                   }),
               std::runtime_error);
  EXPECT_EQ(TextOf(Path("a")), "old");
  EXPECT_EQ(Files(), 1);
}

TEST_F(OutputFileTest, FollowsLinks) {
  WriteFileAtomically(Path("a"), [](std::ostream& out) { out << "old"; });
  fs::create_symlink(Path("a"), Path("link"));
  WriteFileAtomically(Path("link"), [](std::ostream& out) { out << "new"; });
  EXPECT_TRUE(fs::is_symlink(Path("link")));
  EXPECT_EQ(TextOf(Path("a")), "new");
}

TEST_F(OutputFileTest, AFullDiskIsAnError) {
  if (!fs::exists("/dev/full")) {
    GTEST_SKIP() << "this system has no /dev/full";
  }
  // Less and more than the stream's buffer.
  for (const size_t size : {10u, 1'000'000u}) {
    EXPECT_EQ(SentenceOf([&] {
                WriteFileAtomically("/dev/full",
                                    [&](std::ostream& out) { out << std::string(size, 'x'); });
              }),
              "cannot write /dev/full: No space left on device");
  }
  EXPECT_TRUE(fs::is_character_file("/dev/full")) << "it was not replaced by a file";
}

TEST_F(OutputFileTest, WritesToDevicesAndPipes) {
  WriteFileAtomically("/dev/null", [](std::ostream& out) { out << "x"; });
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  CheckWritable("/dev/null");
}

TEST_F(OutputFileTest, PathsThatCannotBeWritten) {
  const auto write = [](const std::string& path) {
    const std::string written =
        SentenceOf([&] { WriteFileAtomically(path, [](std::ostream& out) { out << "x"; }); });
    EXPECT_EQ(written, SentenceOf([&] { CheckWritable(path); })) << "both say the same";
    return written;
  };
  EXPECT_EQ(write(Path("no/such/folder")),
            "cannot write " + Path("no/such/folder") + ": No such file or directory");
  EXPECT_EQ(write(folder_.string()), "cannot write " + folder_.string() + ": Is a directory");
  WriteFileAtomically(Path("a"), [](std::ostream& out) { out << "x"; });
  EXPECT_THAT(write(Path("a/b")), HasSubstr("Not a directory"));
  EXPECT_THAT(write(""), HasSubstr("cannot write"));
  if (geteuid() != 0) {
    fs::permissions(folder_, fs::perms::owner_read | fs::perms::owner_exec);
    EXPECT_THAT(write(Path("new")), HasSubstr("Permission denied"));
  }
}

TEST_F(OutputFileTest, CheckingLeavesNothingBehind) {
  CheckWritable(Path("new"));
  EXPECT_EQ(Files(), 0);
  WriteFileAtomically(Path("a"), [](std::ostream& out) { out << "kept"; });
  CheckWritable(Path("a"));
  EXPECT_EQ(TextOf(Path("a")), "kept");
  EXPECT_EQ(Files(), 1);
}

TEST_F(OutputFileTest, ADashIsTheStandardOutput) {
  CheckOutput("-");
  WriteOutput(Path("a"), [](std::ostream& out) { out << "x"; });
  EXPECT_EQ(TextOf(Path("a")), "x");
  testing::internal::CaptureStdout();
  WriteOutput("-", [](std::ostream& out) { out << "y"; });
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "y");
  EXPECT_FALSE(fs::exists("-"));
  EXPECT_THAT(SentenceOf([&] {
                WriteStandardOutput([](std::ostream& out) { out.setstate(std::ios::badbit); });
              }),
              HasSubstr("cannot write to the standard output"));
  std::cout.clear();
}

}  // namespace
}  // namespace kvbench
