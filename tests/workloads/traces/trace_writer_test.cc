#include "workloads/traces/trace_writer.h"

#include <gtest/gtest.h>

#include <sstream>

#include "base/random.h"
#include "tests/workloads/testing.h"
#include "workloads/traces/trace_reader.h"

namespace kvbench {
namespace {

std::string Written(const Trace& trace) {
  std::ostringstream out;
  WriteTrace(trace, out);
  return out.str();
}

TEST(WriteTraceTest, WritesMillisecondsWithoutTrailingZeros) {
  Trace trace;
  trace.requests = {{0, 1, 2, {}},
                    {27'482'000'000, 3, 4, {5}},
                    {27'482'000'001, 3, 4, {5, -6}},
                    {27'482'100'000, 1, 1, {}}};
  EXPECT_EQ(Written(trace),
            "{\"timestamp\": 0, \"input_length\": 1, \"output_length\": 2}\n"
            "{\"timestamp\": 27482, \"input_length\": 3, \"output_length\": 4, \"hash_ids\": [5]}\n"
            "{\"timestamp\": 27482.000001, \"input_length\": 3, \"output_length\": 4, "
            "\"hash_ids\": [5, -6]}\n"
            "{\"timestamp\": 27482.1, \"input_length\": 1, \"output_length\": 1}\n");
}

TEST(WriteTraceTest, LeavesTimesOutWhereThereAreNone) {
  Trace trace;
  trace.has_arrivals = false;
  trace.requests = {{0, 1, 2, {}}};
  const std::string text = Written(trace);
  EXPECT_EQ(text, "{\"input_length\": 1, \"output_length\": 2}\n");
  EXPECT_FALSE(ReadTraceText(text, "x").has_arrivals);
}

TEST(WriteTraceTest, EveryNanosecondSurvives) {
  RandomStream random(1, "test");
  Trace trace;
  int64_t time = 0;
  for (int i = 0; i < 10'000; ++i) {
    time += static_cast<int64_t>(random.Below(uint64_t{1} << random.Below(38)));
    trace.requests.push_back(
        {time, 1 + static_cast<int64_t>(random.Below(kMaxTokens)), kMaxTokens, {}});
  }
  const Trace read = ReadTraceText(Written(trace), "x");
  EXPECT_TRUE(read.requests == trace.requests);
}

TEST(WriteTraceTest, ConvertingKeepsTheDigestOfEveryFile) {
  KVBENCH_NEEDS_SHARED_DATA();
  int files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(SharedData() / "traces")) {
    const std::string name = entry.path().filename().string();
    // Alpaca's answer lengths and prompt lengths alone are no traces.
    if (!entry.is_regular_file() || name == "README.md" || name == "alpaca-20k-length.csv" ||
        name == "alpaca-demo999-input-gpt2bpe.csv") {
      continue;
    }
    const Trace original = ReadTrace(entry.path().string());
    const Trace converted = ReadTraceText(Written(original), name);
    EXPECT_EQ(TraceDigest(original), TraceDigest(converted)) << name;
    EXPECT_EQ(original.has_arrivals, converted.has_arrivals) << name;
    ++files;
  }
  EXPECT_EQ(files, 8);
}

}  // namespace
}  // namespace kvbench
