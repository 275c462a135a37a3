#include "workloads/traces/spec_string.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/workloads/testing.h"

namespace kvbench {
namespace {

using testing::HasSubstr;

TEST(SpecStringTest, TakesNumbersAndTexts) {
  SpecString spec("gamma:cv=2.5:n=3:over=clip", "--arrivals");
  EXPECT_EQ(spec.name(), "gamma");
  EXPECT_EQ(spec.TakeNumber("cv", 0, 10), 2.5);
  EXPECT_EQ(spec.TakeInteger("n", 0, 10), 3);
  EXPECT_EQ(spec.Take("over"), "clip");
  EXPECT_EQ(spec.TakeNumber("absent", 0, 10, 7.0), 7.0);
  spec.Finish();
}

TEST(SpecStringTest, SaysWhatIsWrong) {
  EXPECT_THAT(SentenceOf([] { SpecString("a:b", "--x"); }),
              HasSubstr("--x 'a:b': 'b' is no key=value"));
  EXPECT_THAT(SentenceOf([] { SpecString("a:b=", "--x"); }), HasSubstr("no key=value"));
  EXPECT_THAT(SentenceOf([] { SpecString("a:b=1:b=2", "--x"); }), HasSubstr("'b' is there twice"));
  EXPECT_THAT(SentenceOf([] { SpecString("a:b=1:c=2", "--x").TakeNumber("d", 0, 1); }),
              HasSubstr("d is missing"));
  EXPECT_THAT(SentenceOf([] { SpecString("a:b=nan", "--x").TakeNumber("b", 0, 1); }),
              HasSubstr("b='nan' is not a number from 0 to 1"));
  EXPECT_THAT(SentenceOf([] { SpecString("a:b=1.5", "--x").TakeInteger("b", 0, 9); }),
              HasSubstr("not a whole number from 0 to 9"));
  EXPECT_THAT(SentenceOf([] {
                SpecString spec("a:b=1:c=2", "--x");
                spec.Take("c");
                spec.Finish();
              }),
              HasSubstr("'a' does not know 'b'; it takes c"));
}

}  // namespace
}  // namespace kvbench
