#include "workloads/traces/trace_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/workloads/testing.h"

namespace kvbench {
namespace {

using testing::ElementsAre;

Trace ReadShared(const char* file, const TraceReadOptions& options = {}) {
  return ReadTrace((SharedData() / "traces" / file).string(), options);
}

TEST(ReadTraceTest, AzureConversation) {
  KVBENCH_NEEDS_SHARED_DATA();
  const Trace trace = ReadShared("azure/AzureLLMInferenceTrace_conv.csv");
  EXPECT_EQ(trace.requests.size(), 19'366u);
  EXPECT_EQ(trace.name, "AzureLLMInferenceTrace_conv");
  EXPECT_TRUE(trace.has_arrivals);
  EXPECT_EQ(trace.seed, -1);
  EXPECT_EQ(trace.request_rate, "");
  EXPECT_EQ(trace.requests[0], (Request{0, 374, 44, {}}));
  EXPECT_EQ(trace.requests[1], (Request{4'314'579'000, 396, 109, {}}));
  EXPECT_EQ(trace.requests.back().output_tokens, 183) << "the last line has no line end";
}

TEST(ReadTraceTest, AzureCode) {
  KVBENCH_NEEDS_SHARED_DATA();
  const Trace trace = ReadShared("azure/AzureLLMInferenceTrace_code.csv");
  EXPECT_EQ(trace.requests.size(), 8'819u);
  EXPECT_EQ(trace.requests[1], (Request{52'000'000, 3180, 8, {}}));
}

TEST(ReadTraceTest, Mooncake) {
  KVBENCH_NEEDS_SHARED_DATA();
  const Trace conversation = ReadShared("mooncake/conversation_trace.jsonl");
  EXPECT_EQ(conversation.requests.size(), 12'031u);
  EXPECT_EQ(conversation.requests[0].prompt_tokens, 6758);
  EXPECT_EQ(conversation.requests[0].output_tokens, 500);
  EXPECT_THAT(conversation.requests[0].prefix_ids,
              ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13));
  EXPECT_EQ(conversation.requests.back().arrival_ns, 3'536'999'000'000);
  EXPECT_EQ(ReadShared("mooncake/synthetic_trace.jsonl").requests.size(), 3'993u);
}

TEST(ReadTraceTest, LengthPairs) {
  KVBENCH_NEEDS_SHARED_DATA();
  const Trace sharegpt = ReadShared("sharegpt/sharegpt_opt_text_completion_length.csv");
  EXPECT_EQ(sharegpt.requests.size(), 84'226u);
  EXPECT_FALSE(sharegpt.has_arrivals);
  EXPECT_EQ(sharegpt.requests[0], (Request{0, 21, 518, {}}));
  const Trace arxiv =
      ReadShared("vidur/arxiv_summarization_stats_llama2_tokenizer_filtered_v2.csv");
  EXPECT_EQ(arxiv.requests.size(), 28'257u);
  EXPECT_FALSE(arxiv.has_arrivals);
  EXPECT_EQ(arxiv.requests[0], (Request{0, 3772, 54, {}}));
  EXPECT_EQ(ReadShared("alpaca/alpaca-first1802-gpt2bpe.csv").requests.size(), 1'802u);
}

TEST(ReadTraceTest, BurstGptLeavesFailuresOutAndCountsFromTheFirst) {
  KVBENCH_NEEDS_SHARED_DATA();
  const Trace trace = ReadShared("burstgpt/burstgpt_slice.csv");
  EXPECT_EQ(trace.requests.size(), 383u);
  EXPECT_EQ(trace.skipped_rows, 17);
  EXPECT_EQ(trace.requests[0], (Request{0, 472, 18, {}}));
  EXPECT_EQ(trace.requests[1], (Request{40'000'000'000, 1087, 230, {}}));
}

TEST(ReadTraceTest, ColumnsReadAnyCsv) {
  KVBENCH_NEEDS_SHARED_DATA();
  const Trace trace =
      ReadShared("alpaca/alpaca-20k-length.csv",
                 {.columns = "prompt=reference_tokens_llama,output=vicuna_t0.7_tokens"});
  EXPECT_EQ(trace.requests.size(), 20'000u);
  EXPECT_EQ(trace.requests[0], (Request{0, 54, 61, {}}));
  EXPECT_FALSE(trace.has_arrivals);
}

TEST(ReadTraceTextTest, ColumnUnits) {
  const auto second_arrival = [](std::string_view unit, std::string_view first,
                                 std::string_view second) {
    const std::string text =
        "sent at,in,out\n" + std::string(first) + ",1,2\n" + std::string(second) + ",3,4\n";
    const Trace trace = ReadTraceText(
        text, "x.csv",
        {.columns = "arrival=sent at:" + std::string(unit) + ",prompt=in,output=out"});
    EXPECT_EQ(trace.requests[0].arrival_ns, 0);
    EXPECT_EQ(trace.requests[1].prompt_tokens, 3);
    return trace.requests[1].arrival_ns;
  };
  EXPECT_EQ(second_arrival("s", "1.5", "2.75"), 1'250'000'000);
  EXPECT_EQ(second_arrival("s", "0", "0.30000000000000004"), 300'000'000) << "rounded to whole ns";
  EXPECT_EQ(second_arrival("ms", "10", "12.000001"), 2'000'001);
  EXPECT_EQ(second_arrival("us", "1", "3"), 2'000);
  EXPECT_EQ(second_arrival("ns", "1", "3"), 2);
  EXPECT_EQ(second_arrival("timestamp", "2023-12-31 23:59:59.5", "2024-01-01 00:00:01"),
            1'500'000'000);
  EXPECT_EQ(second_arrival("s", "1700000000", "1700000001"), 1'000'000'000) << "seconds since 1970";
}

TEST(ReadTraceTextTest, JsonLinesAreTakenAsTheyAre) {
  const Trace trace = ReadTraceText(
      "{\"timestamp\": 100.25, \"input_length\": 5, \"output_length\": 6}\r\n"
      "\n"
      "{\"output_length\": 2, \"extra\": {\"hash_ids\": [[1], \"x\"]}, \"input_length\": 1e2, "
      "\"hash_ids\": [9223372036854775807, -1], \"timestamp\": 1.00250e2}",
      "dir/mine.jsonl");
  EXPECT_EQ(trace.name, "mine");
  EXPECT_EQ(trace.source, "dir/mine.jsonl");
  EXPECT_THAT(trace.requests, ElementsAre(Request{100'250'000, 5, 6, {}},
                                          Request{100'250'000, 100, 2, {INT64_MAX, -1}}));
}

TEST(ReadTraceTextTest, ByteOrderMarkAndQuotesAreTolerated) {
  const Trace trace =
      ReadTraceText("\xef\xbb\xbf\"input_tokens\",\"output_tokens\"\n\"7\",8\n", "x.csv");
  EXPECT_THAT(trace.requests, ElementsAre(Request{0, 7, 8, {}}));
}

TEST(ReadTraceTextTest, VidurWithArrivals) {
  const Trace trace = ReadTraceText(
      "arrived_at,num_prefill_tokens,num_decode_tokens\n0.5,10,20\n0.75,30,40\n", "x.csv");
  EXPECT_TRUE(trace.has_arrivals);
  EXPECT_EQ(trace.requests[1].arrival_ns, 250'000'000);
}

TEST(ReadTraceTextTest, LimitDoesNotLookFurther) {
  const std::string text = "input_tokens,output_tokens\n1,2\n3,4\nbroken\n";
  EXPECT_EQ(ReadTraceText(text, "x.csv", {.limit = 2}).requests.size(), 2u);
  EXPECT_THROW(ReadTraceText(text, "x.csv", {.limit = 3}), Error);
  EXPECT_EQ(ReadTraceText(text, "x.csv", {.limit = 1}).requests.size(), 1u);
  const std::string lines = "{\"input_length\": 1, \"output_length\": 2}\n{broken";
  EXPECT_EQ(ReadTraceText(lines, "x.jsonl", {.limit = 1}).requests.size(), 1u);
}

TEST(ReadTraceTextTest, SpeedDividesTimes) {
  const std::string text = "arrived_at,num_prefill_tokens,num_decode_tokens\n10,1,1\n20,1,1\n";
  EXPECT_EQ(ReadTraceText(text, "x.csv", {.speed = 4.0}).requests[1].arrival_ns, 2'500'000'000);
}

TEST(ReadTraceTextTest, EqualTimesAreFine) {
  const Trace trace = ReadTraceText(
      "Timestamp,Request tokens,Response tokens\n5,1,1\n5,2,2\n6,0,0\n6,3,3\n", "x.csv");
  EXPECT_EQ(trace.requests.size(), 3u);
  EXPECT_EQ(trace.requests[1].arrival_ns, 0);
  EXPECT_EQ(trace.skipped_rows, 1);
}

}  // namespace
}  // namespace kvbench
