#include "base/quoting.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kvbench {
namespace {

using std::string_literals::operator""s;

TEST(QuotedTest, EscapesAndCuts) {
  EXPECT_EQ(Quoted("plain text"), "'plain text'");
  EXPECT_EQ(Quoted(""), "''");
  EXPECT_EQ(Quoted("a\nb\x80"s + '\0'), "'a\\x0ab\\x80\\x00'");
  EXPECT_EQ(Quoted("abcdef", 3), "'abc...'");
  EXPECT_EQ(Quoted("abc", 3), "'abc'");
}

TEST(ShownPathTest, KeepsNamesInOtherScriptsButNoControls) {
  EXPECT_EQ(ShownPath("/tmp/größe.csv"), "/tmp/größe.csv");
  EXPECT_EQ(ShownPath("a\x1b[2Jb"), "a\\x1b[2Jb");
  EXPECT_EQ(ShownPath("a\xff"), "a\\xff");
  EXPECT_EQ(ShownPath("a\xc2\x9b"), "a\\xc2\\x9b") << "a C1 control character";
}

TEST(ShownPathTest, CutsLongPathsAtTheFront) {
  std::string path(1000, 'x');
  path += "/end.csv";
  const std::string shown = ShownPath(path);
  EXPECT_LT(shown.size(), 200u);
  EXPECT_TRUE(shown.starts_with("..."));
  EXPECT_TRUE(shown.ends_with("/end.csv"));
}

TEST(CloseNamesTest, FindsTypingErrorsAndPrefixes) {
  const std::vector<std::string> names = {"llama-2-7b", "llama-3-8b", "opt-13b", "falcon-7b"};
  EXPECT_THAT(CloseNames("lama-2-7b", names), testing::Contains("llama-2-7b"));
  EXPECT_EQ(CloseNames("opt-31b", names).front(), "opt-13b");
  EXPECT_EQ(CloseNames("opt", names).front(), "opt-13b");
  EXPECT_THAT(CloseNames("completely different", names), testing::IsEmpty());
}

}  // namespace
}  // namespace kvbench
