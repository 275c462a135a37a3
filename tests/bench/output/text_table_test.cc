#include "bench/output/text_table.h"

#include <gtest/gtest.h>

namespace kvbench {
namespace {

TEST(TextTableTest, ColumnsAreAsWideAsTheirWidestCell) {
  using enum TextTable::Align;
  TextTable table({kLeft, kRight, kLeft});
  table.Add({"name", "n", ""});
  table.Add({"a", "1,234", "b"});
  EXPECT_EQ(table.Text(),
            "  name      n\n"
            "  a     1,234  b\n");
  EXPECT_EQ(TextTable({kLeft}).Text(), "");
}

}  // namespace
}  // namespace kvbench
