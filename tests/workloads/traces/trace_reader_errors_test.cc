#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/workloads/testing.h"
#include "workloads/traces/trace_reader.h"

namespace kvbench {
namespace {

using testing::HasSubstr;

/// The sentence for a text; fails where it is accepted or the sentence is not one printable line.
std::string Refused(std::string_view text, const TraceReadOptions& options = {}) {
  const std::string sentence = SentenceOf([&] { ReadTraceText(text, "t.csv", options); });
  EXPECT_FALSE(sentence.empty()) << text;
  EXPECT_LT(sentence.size(), 400u);
  for (const char c : sentence) {
    EXPECT_TRUE(c >= 0x20 && c < 0x7f) << sentence;
  }
  return sentence;
}

constexpr std::string_view kAzureHeader = "TIMESTAMP,ContextTokens,GeneratedTokens\r\n";

std::string Azure(std::string_view rows) { return std::string(kAzureHeader) + std::string(rows); }

TEST(TraceErrorsTest, EmptyFiles) {
  EXPECT_EQ(Refused(""), "t.csv: the file is empty; a trace has one request a line");
  EXPECT_THAT(Refused(" \r\n\n"), HasSubstr("is empty"));
  EXPECT_THAT(Refused("\xef\xbb\xbf"), HasSubstr("is empty"));
  EXPECT_THAT(Refused(kAzureHeader), HasSubstr("holds no requests"));
  EXPECT_THAT(Refused("Timestamp,Request tokens,Response tokens\n1,0,0\n2,0,0\n"),
              HasSubstr("all 2 rows are failed requests"));
}

TEST(TraceErrorsTest, UnknownFormats) {
  EXPECT_THAT(Refused("id,split\n1,2\n"),
              HasSubstr("t.csv, line 1: the format of a file that begins with "
                        "'id,split' is not known"));
  EXPECT_THAT(Refused(std::string("\x7f\x45LF\x02\x01\0\0\xff", 9)), HasSubstr("\\x7fELF\\x02"));
  EXPECT_THAT(Refused("[1, 2]"), HasSubstr("is not known"));
  EXPECT_THAT(Refused("\xff\xfe{\0", {}), HasSubstr("is not known"));
}

TEST(TraceErrorsTest, MissingColumns) {
  EXPECT_THAT(
      Refused("TIMESTAMP,ContextTokens\n2023-11-16 18:15:46,1\n"),
      HasSubstr("line 1: the column 'GeneratedTokens' is missing; the file has 'TIMESTAMP', "
                "'ContextTokens'"));
  EXPECT_THAT(Refused("input_tokens\n5\n"), HasSubstr("'output_tokens' is missing"));
  EXPECT_THAT(Refused("input_tokens,output_tokens,input_tokens\n5,6,7\n"),
              HasSubstr("two columns"));
  EXPECT_THAT(Refused("{\"timestamp\": 0, \"input_length\": 4}\n"),
              HasSubstr("line 1: output_length is missing"));
}

TEST(TraceErrorsTest, Lengths) {
  const auto row = [](std::string_view prompt) {
    return Refused(Azure("2023-11-16 18:15:46.6805900,374,44\r\n2023-11-16 18:15:46.6805900," +
                         std::string(prompt) + ",44\r\n"));
  };
  EXPECT_EQ(
      row("-5"),
      "t.csv, line 3: ContextTokens '-5' is negative; a request has 1 to 1073741824 tokens there");
  EXPECT_THAT(row("0"), HasSubstr("'0' is too small"));
  EXPECT_THAT(row("1073741825"), HasSubstr("is too large"));
  EXPECT_THAT(row("99999999999999999999999999"), HasSubstr("is too large"));
  EXPECT_THAT(row("1e309"), HasSubstr("is too large"));
  EXPECT_THAT(row("1.5"), HasSubstr("is no whole number"));
  EXPECT_THAT(row("NaN"), HasSubstr("'NaN' is no number"));
  EXPECT_THAT(row("inf"), HasSubstr("is no number"));
  EXPECT_THAT(row(""), HasSubstr("ContextTokens is missing"));
  EXPECT_THAT(row("12\x01"), HasSubstr("'12\\x01' is no number"));
  EXPECT_THAT(Refused("Timestamp,Request tokens,Response tokens\n1,-1,5\n"),
              HasSubstr("is negative"));
  EXPECT_THAT(Refused("{\"timestamp\": 0, \"input_length\": -4, \"output_length\": 4}"),
              HasSubstr("input_length '-4' is negative"));
  EXPECT_THAT(Refused("{\"timestamp\": 0, \"input_length\": 4, \"output_length\": 0}"),
              HasSubstr("output_length '0' is too small"));
  EXPECT_THAT(Refused("{\"timestamp\": 0, \"input_length\": 1e309, \"output_length\": 4}"),
              HasSubstr("too large"));
  EXPECT_THAT(Refused("{\"timestamp\": 0, \"input_length\": \"4\", \"output_length\": 4}"),
              HasSubstr("input_length is '4'; it is a number"));
}

TEST(TraceErrorsTest, Times) {
  EXPECT_EQ(
      Refused(Azure("2023-11-16 18:15:46.6805900,374,44\r\n2023-11-16 18:15:46.6805899,1,1\r\n")),
      "t.csv, line 3: the time is 100 ns before that of line 2; requests stand in the order of "
      "their "
      "arrival");
  EXPECT_THAT(Refused(Azure("yesterday,1,1\r\n")), HasSubstr("TIMESTAMP 'yesterday' is no time"));
  EXPECT_THAT(Refused("Timestamp,Request tokens,Response tokens\n7,1,1\n6,0,0\n8,1,1\n"),
              HasSubstr("line 3: the time is"));
  EXPECT_THAT(Refused("Timestamp,Request tokens,Response tokens\nNaN,1,1\n"),
              HasSubstr("Timestamp 'NaN' is no number"));
  EXPECT_THAT(Refused("Timestamp,Request tokens,Response tokens\n-1,1,1\n"),
              HasSubstr("is negative"));
  EXPECT_THAT(Refused("Timestamp,Request tokens,Response tokens\n0,1,1\n8640001,1,1\n"),
              HasSubstr("line 3: the request arrives more than 100 days after"));
  EXPECT_THAT(Refused("{\"timestamp\": 0.0000001, \"input_length\": 4, \"output_length\": 4}"),
              HasSubstr("timestamp '0.0000001' has more than 6 decimals"));
}

TEST(TraceErrorsTest, JsonLines) {
  const std::string good = "{\"timestamp\": 3, \"input_length\": 4, \"output_length\": 4}\n";
  EXPECT_THAT(Refused(good + "{\"timestamp\": 2, \"input_length\": 4, \"output_length\": 4}\n"),
              HasSubstr("line 2: the time is 1000000 ns before that of line 1"));
  EXPECT_THAT(Refused(good + "{\"input_length\": 4, \"output_length\": 4}\n"),
              HasSubstr("line 2: the request has no timestamp, unlike those before it"));
  EXPECT_THAT(Refused(good + "[1]\n"), HasSubstr("line 2: it is a list"));
  EXPECT_THAT(Refused(good + "5\n"), HasSubstr("line 2: it is a number"));
  EXPECT_THAT(Refused(good + "null\n"), HasSubstr("line 2: it is a single value"));
  EXPECT_THAT(Refused(good + "{\"timestamp\": 3, \"timestamp\": 4}\n"),
              HasSubstr("timestamp is there twice"));
  EXPECT_THAT(Refused(good + "{\"timestamp\": [3]}\n"),
              HasSubstr("timestamp is a list; it is a number"));
  EXPECT_THAT(Refused(good + "{\"hash_ids\": 3}\n"), HasSubstr("hash_ids is a number"));
  EXPECT_THAT(Refused(good + "{\"hash_ids\": {\"a\": 3}}\n"), HasSubstr("hash_ids is an object"));
  EXPECT_THAT(Refused(good + "{\"hash_ids\": [1.5]}\n"), HasSubstr("hash_ids holds 1.5"));
  EXPECT_THAT(Refused(good + "{\"hash_ids\": [[1]]}\n"),
              HasSubstr("hash_ids holds a list or an object"));
  EXPECT_THAT(Refused(good + "{\"hash_ids\": [9223372036854775808]}\n"), HasSubstr("63 bits"));
  EXPECT_THAT(Refused(good + "{\"timestamp\": 3, \"inp\xff"), HasSubstr("it is no JSON object"));
}

TEST(TraceErrorsTest, FilesCutInTheMiddle) {
  const std::string line = "{\"timestamp\": 3, \"input_length\": 4, \"output_length\": 4}";
  for (size_t cut = 1; cut < line.size(); ++cut) {
    EXPECT_THAT(Refused(line + "\n" + line.substr(0, cut)),
                HasSubstr("line 2: it is no JSON object"))
        << cut;
    EXPECT_THAT(Refused(line + "\n" + line.substr(0, cut)), HasSubstr("seems to be cut off here"));
  }
  EXPECT_THAT(
      Refused(Azure("2023-11-16 18:15:46.6805900,374,44\r\n2023-11-16 18:15:47.0")),
      HasSubstr(
          "line 3: the line has 1 fields where the first line has 3; the file seems to be cut "
          "off here"));
  EXPECT_THAT(Refused(Azure("2023-11-16 18:15:46.6805900,374\r\n2023-11-16 18:15:47.0,1,1\r\n")),
              HasSubstr("line 2: the line has 2 fields where the first line has 3; every line"));
}

TEST(TraceErrorsTest, Columns) {
  const auto refused = [](std::string columns) {
    return Refused("t,in,out\n1,2,3\n", {.columns = columns});
  };
  EXPECT_THAT(refused("prompt=in"), HasSubstr("--columns 'prompt=in': output is missing"));
  EXPECT_THAT(refused("prompt=in,output=out,arrival=t"), HasSubstr("arrival has no unit"));
  EXPECT_THAT(refused("prompt=in,output=out,arrival=t:min"),
              HasSubstr("the unit 'min' is not one of"));
  EXPECT_THAT(refused("prompt=in,output=out,arrival=:s"), HasSubstr("arrival names no column"));
  EXPECT_THAT(refused("prompt=in,prompt=out"), HasSubstr("prompt is there twice"));
  EXPECT_THAT(refused("prompt=in,size=out"), HasSubstr("'size' is not one of"));
  EXPECT_THAT(refused("prompt"), HasSubstr("'prompt' names no column"));
  EXPECT_THAT(refused("prompt=IN,output=out"), HasSubstr("line 1: the column 'IN' is missing"));
}

TEST(TraceErrorsTest, Options) {
  const std::string text = "input_tokens,output_tokens\n1,2\n";
  EXPECT_THAT(Refused(text, {.limit = -1}), HasSubstr("--limit -1 is negative"));
  EXPECT_THAT(Refused(text, {.speed = 0.0}), HasSubstr("speed"));
}

TEST(TraceErrorsTest, Files) {
  EXPECT_THAT(SentenceOf([] { ReadTrace("/no/such/trace.csv"); }),
              HasSubstr("cannot read /no/such/trace.csv: No such file"));
  EXPECT_THAT(SentenceOf([] { ReadTrace("/"); }), HasSubstr("it is a folder"));
}

}  // namespace
}  // namespace kvbench
