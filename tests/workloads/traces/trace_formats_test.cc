#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <sstream>
#include <string>

#include "tests/workloads/testing.h"
#include "workloads/traces/trace_reader.h"
#include "workloads/traces/trace_writer.h"

// What every format has to keep, those of the future too.

namespace kvbench {
namespace {

TEST(TraceFormatsTest, ExamplesAreRead) {
  std::set<std::string> names;
  for (const TraceFormat& format : TraceFormats()) {
    SCOPED_TRACE(format.name);
    EXPECT_TRUE(names.insert(format.name).second) << "two formats of one name";
    const Trace trace = ReadTraceText(format.example, "example");
    ASSERT_EQ(trace.requests.size(), 2u);
    EXPECT_NE(trace.requests[0], trace.requests[1]);
    EXPECT_EQ(trace.requests[0].arrival_ns, 0) << "times count from the first request";
    EXPECT_EQ(trace.requests[1].arrival_ns > 0, trace.has_arrivals);
    EXPECT_EQ(ReadTraceText(format.example, "example", {.limit = 1}).requests.size(), 1u);
    EXPECT_EQ(TraceDigest(ReadTraceText("\xef\xbb\xbf\r\n" + format.example, "example")),
              TraceDigest(trace));

    std::ostringstream written;
    WriteTrace(trace, written);
    EXPECT_EQ(TraceDigest(ReadTraceText(written.str(), "written")), TraceDigest(trace));
  }
}

TEST(TraceFormatsTest, CutExamplesAreReadOrRefused) {
  for (const TraceFormat& format : TraceFormats()) {
    SCOPED_TRACE(format.name);
    for (size_t length = 0; length < format.example.size(); ++length) {
      const std::string cut = format.example.substr(0, length);
      const std::string sentence =
          SentenceOf([&] { EXPECT_LE(ReadTraceText(cut, "cut").requests.size(), 2u) << cut; });
      EXPECT_LT(sentence.size(), 400u) << sentence;
      EXPECT_TRUE(sentence.empty() || sentence.starts_with("cut")) << sentence;
    }
  }
}

TEST(TraceFormatsTest, AreNamedWhereAFileIsNotKnown) {
  const std::string sentence = SentenceOf([] { ReadTraceText("a,b\n1,2\n", "x"); });
  for (const TraceFormat& format : TraceFormats()) {
    EXPECT_THAT(sentence, testing::HasSubstr(format.name));
  }
}

}  // namespace
}  // namespace kvbench
