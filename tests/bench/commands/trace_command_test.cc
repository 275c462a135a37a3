#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <fstream>
#include <iterator>
#include <sstream>

#include "bench/commands/commands.h"
#include "tests/workloads/testing.h"
#include "workloads/traces/trace_reader.h"

namespace kvbench {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class TraceCommandTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) / ("trace_command_test." + std::to_string(getpid()));
    fs::create_directory(folder_);
    before_ = fs::current_path();
    fs::current_path(folder_);
  }
  void TearDown() override {
    fs::current_path(before_);
    fs::remove_all(folder_);
  }

  /// What the command writes to the standard output. Throws what the command throws.
  static std::string Run(const std::string& arguments) {
    CLI::App app("kvbench");
    Invocation invocation;
    AddTraceCommand(Command(&app), invocation);
    testing::internal::CaptureStdout();
    try {
      app.parse(arguments, /*program_name_included=*/false);
    } catch (...) {
      testing::internal::GetCapturedStdout();
      throw;
    }
    return testing::internal::GetCapturedStdout();
  }

  fs::path folder_, before_;
};

TEST_F(TraceCommandTest, TheExamplesOfTheHelpTextsWork) {
  CLI::App app("kvbench");
  Invocation invocation;
  AddTraceCommand(Command(&app), invocation);
  CLI::App* trace = app.get_subcommand("trace");
  int examples = 0;
  for (const CLI::App* command :
       {trace, trace->get_subcommand("make"), trace->get_subcommand("convert"),
        trace->get_subcommand("stats")}) {
    std::istringstream footer(command->get_footer());
    const std::string program = "  kvbench ";
    for (std::string line; std::getline(footer, line);) {
      if (line.starts_with(program)) {
        EXPECT_NO_THROW(Run(line.substr(program.size()))) << line;
        ++examples;
      }
    }
  }
  EXPECT_EQ(examples, 6);
}

TEST_F(TraceCommandTest, ConvertingKeepsTheDigest) {
  Run("trace make --lengths sharegpt --rate 4 --requests 50 --seed 3 --out a.jsonl");
  Run("trace convert a.jsonl --out b.jsonl");
  EXPECT_EQ(TraceDigest(ReadTrace("a.jsonl")), TraceDigest(ReadTrace("b.jsonl")));
  std::ifstream a("a.jsonl");
  EXPECT_EQ(Run("trace convert b.jsonl"), std::string(std::istreambuf_iterator<char>(a), {}));
}

TEST_F(TraceCommandTest, StatsShowTheDigest) {
  Run("trace make --lengths fixed:prompt=8:output=4 --arrivals constant --rate 2 --requests 5 "
      "--out a.jsonl");
  const std::string table = Run("trace stats a.jsonl");
  EXPECT_THAT(table, HasSubstr(TraceDigest(ReadTrace("a.jsonl"))));
  EXPECT_THAT(
      table, HasSubstr("span          2.000 s\nrate          2 requests/s\nCV of gaps    0.000\n"));
  EXPECT_THAT(table,
              HasSubstr("prompt               8.0       8.0       8.0       8.0         8\n"));
}

TEST_F(TraceCommandTest, NothingHalfWritten) {
  std::ofstream("bad.csv") << "input_tokens,output_tokens\n1,2\n3,x\n";
  EXPECT_EQ(SentenceOf([] { Run("trace convert bad.csv --out out.jsonl"); }),
            "bad.csv, line 3: output_tokens 'x' is no number; a request has 1 to 1073741824 tokens "
            "there");
  EXPECT_FALSE(fs::exists("out.jsonl"));
  EXPECT_THAT(SentenceOf([] {
                Run("trace make --lengths alpaca --rate 1 --requests 5 --out no/out.jsonl");
              }),
              HasSubstr("cannot write no/out.jsonl: No such file or directory"));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1);
}

}  // namespace
}  // namespace kvbench
