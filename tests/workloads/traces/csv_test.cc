#include "workloads/traces/csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/workloads/testing.h"

namespace kvbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class CsvReaderTest : public testing::Test {
 protected:
  std::vector<std::vector<std::string>> Records(std::string_view text) {
    CsvReader reader(text, builder_);
    std::vector<std::vector<std::string>> records;
    lines_.clear();
    while (reader.Next()) {
      records.emplace_back(reader.fields().begin(), reader.fields().end());
      lines_.push_back(reader.line());
      unfinished_ = reader.at_unfinished_end();
    }
    return records;
  }

  TraceBuilder builder_{"test.csv", {}};
  std::vector<int64_t> lines_;
  bool unfinished_ = false;
};

TEST_F(CsvReaderTest, LineEnds) {
  EXPECT_THAT(Records("a,b\r\nc,d\n\n\r\ne,\n"),
              ElementsAre(ElementsAre("a", "b"), ElementsAre("c", "d"), ElementsAre("e", "")));
  EXPECT_THAT(lines_, ElementsAre(1, 2, 5));
  EXPECT_FALSE(unfinished_);
  EXPECT_THAT(Records("a,b\nc"), ElementsAre(ElementsAre("a", "b"), ElementsAre("c")));
  EXPECT_TRUE(unfinished_);
  EXPECT_THAT(Records("a,\n,b,"), ElementsAre(ElementsAre("a", ""), ElementsAre("", "b", "")));
  EXPECT_THAT(Records(""), ElementsAre());
  EXPECT_THAT(Records("a\r"), ElementsAre(ElementsAre("a")));
}

TEST_F(CsvReaderTest, Quotes) {
  EXPECT_THAT(Records("\"a,b\",\"say \"\"hi\"\"\",c\r\n\"two\nlines\",\"\"\nx\"y,z\n"),
              ElementsAre(ElementsAre("a,b", "say \"hi\"", "c"), ElementsAre("two\nlines", ""),
                          ElementsAre("x\"y", "z")));
  EXPECT_THAT(lines_, ElementsAre(1, 2, 4));
  EXPECT_THAT(Records("a,\"b\""), ElementsAre(ElementsAre("a", "b")));
}

TEST_F(CsvReaderTest, BrokenQuotes) {
  EXPECT_THAT(SentenceOf([&] { Records("a\nb,\"c\nd\n"); }),
              HasSubstr("test.csv, line 2: a quoted field"));
  EXPECT_THAT(SentenceOf([&] { Records("\"a\"b\n"); }),
              HasSubstr("line 1: text follows a closing quote"));
}

}  // namespace
}  // namespace kvbench
