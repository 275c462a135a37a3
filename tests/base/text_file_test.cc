#include "base/text_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/workloads/testing.h"

namespace kvbench {
namespace {

using testing::HasSubstr;

TEST(ReadTextFileTest, ReadsBytes) {
  const std::string path = testing::TempDir() + "read_text_file_test";
  const std::string bytes("a\0b\r\n\xff", 6);
  std::ofstream(path, std::ios::binary) << bytes;
  EXPECT_EQ(ReadTextFile(path), bytes);
  EXPECT_EQ(ReadTextFile(path, bytes.size()), bytes);
  EXPECT_THAT(SentenceOf([&] { ReadTextFile(path, 5); }), HasSubstr("larger than 5 bytes"));
  std::filesystem::remove(path);
}

TEST(ReadTextFileTest, SaysWhatIsWrong) {
  EXPECT_EQ(SentenceOf([] { ReadTextFile("/no/such.csv"); }),
            "cannot read /no/such.csv: No such file or directory");
  EXPECT_THAT(SentenceOf([] { ReadTextFile("/tmp"); }),
              HasSubstr("cannot read /tmp: it is a folder"));
  EXPECT_THAT(SentenceOf([] { ReadTextFile("/dev/zero"); }), HasSubstr("it is a device"));
  EXPECT_THAT(SentenceOf([] { ReadTextFile(""); }), HasSubstr("give a path"));
  EXPECT_THAT(SentenceOf([] { ReadTextFile(std::string("/tmp\0x", 6)); }),
              HasSubstr("cannot read"));
}

TEST(FileStemTest, DropsFolderAndEnding) {
  EXPECT_EQ(FileStem("/a/b.c/trace.v2.csv"), "trace.v2");
  EXPECT_EQ(FileStem("trace"), "trace");
}

}  // namespace
}  // namespace kvbench
