#include "base/markup.h"

#include <gtest/gtest.h>

namespace kvbench {
namespace {

TEST(Markup, WhatBeginsMarkupIsAnEntity) {
  EXPECT_EQ(EscapeMarkup("a < b > c & \"d\" 'e'"), "a &lt; b &gt; c &amp; &quot;d&quot; 'e'");
  EXPECT_EQ(EscapeMarkup("]]> &amp; <!--"), "]]&gt; &amp;amp; &lt;!--");
  EXPECT_EQ(EscapeMarkup(""), "");
}

TEST(Markup, ControlCharactersAreReplaced) {
  EXPECT_EQ(EscapeMarkup(std::string_view("\0\x01\x08\x0b\x1b[31m\r\x7f", 11)), "?????[31m??");
  EXPECT_EQ(EscapeMarkup("tab\tline\n"), "tab\tline\n");
  EXPECT_EQ(EscapeMarkup("\xc2\x85\xc2\x9f"), "??");          // C1
  EXPECT_EQ(EscapeMarkup("\xef\xbf\xbe\xef\xbf\xbf"), "??");  // U+FFFE and U+FFFF
  EXPECT_EQ(EscapeMarkup("\xef\xbf\xbd"), "\xef\xbf\xbd");    // U+FFFD
}

TEST(Markup, Utf8StaysAndOtherBytesDoNot) {
  const std::string text = "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80";  // 2, 3 and 4 bytes
  EXPECT_EQ(EscapeMarkup(text), text);
  EXPECT_EQ(EscapeMarkup("\xff\xc3"), "??");
  EXPECT_EQ(EscapeMarkup("\xc3<"), "?&lt;");            // cut short
  EXPECT_EQ(EscapeMarkup("\xc0\xbc"), "??");            // '<' in two bytes
  EXPECT_EQ(EscapeMarkup("\xe0\x80\xbc"), "???");       // and in three
  EXPECT_EQ(EscapeMarkup("\xed\xa0\x80"), "???");       // a surrogate
  EXPECT_EQ(EscapeMarkup("\xf4\x90\x80\x80"), "????");  // past the last character
}

}  // namespace
}  // namespace kvbench
