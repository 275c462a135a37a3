#include "results/table/binding.h"

#include <gtest/gtest.h>

#include "tests/results/example_results.h"

namespace kvbench {
namespace {

TEST(Binding, MemoryBindsFromAHundredthOfTheSteps) {
  EXPECT_EQ(MainBound({0.9, 0, 0, 0.1}), AdmissionBound::kMemory);
  EXPECT_EQ(MainBound({0.01, 0, 0, 0.99}), AdmissionBound::kMemory);
  EXPECT_EQ(MainBound({0.0099, 0, 0, 0.9901}), AdmissionBound::kLoad);
}

TEST(Binding, MemoryBindsFromATenthOfTheStepsThatWereHeldBack) {
  EXPECT_EQ(MainBound({0.1, 0.9, 0, 0}), AdmissionBound::kMemory);
  EXPECT_EQ(MainBound({0.09, 0.91, 0, 0}), AdmissionBound::kSequences);
  EXPECT_EQ(MainBound({0.04, 0.16, 0.3, 0.5}), AdmissionBound::kLoad);
}

TEST(Binding, ElseTheLargestOfTheOthers) {
  EXPECT_EQ(MainBound({0, 0.5, 0.25, 0.25}), AdmissionBound::kSequences);
  EXPECT_EQ(MainBound({0, 0.25, 0.5, 0.25}), AdmissionBound::kTokens);
  EXPECT_EQ(MainBound({0, 0.25, 0.25, 0.5}), AdmissionBound::kLoad);
  EXPECT_EQ(MainBound({0, 0, 0, 1}), AdmissionBound::kLoad);
}

TEST(Binding, NothingIsSaidWithoutSteps) {
  EXPECT_EQ(MainBound({}), AdmissionBound::kUnknown);
  RunRecord run = ExampleRun("paged");
  run.bound_by = {};
  EXPECT_EQ(MemoryNote(run), "");
}

TEST(Binding, SaysWhatHeldRequestsBack) {
  RunRecord run = ExampleRun("paged");
  EXPECT_EQ(MemoryNote(run), "");
  run.bound_by = {0, 0.75, 0, 0.25};
  EXPECT_EQ(MemoryNote(run),
            "memory did not bind: the sequence cap held requests back (max_num_seqs 256)");
  run.limits.max_concurrency = 8;
  EXPECT_EQ(MemoryNote(run),
            "memory did not bind: the client kept only 8 requests in flight (max_concurrency)");
  run.bound_by = {0, 0, 1, 0};
  EXPECT_EQ(MemoryNote(run),
            "memory did not bind: the token budget held requests back (max_num_batched_tokens "
            "2,048)");
  run.bound_by = {0, 0, 0, 1};
  EXPECT_EQ(MemoryNote(run),
            "memory did not bind: the load was too small, in most steps no request waited");
}

}  // namespace
}  // namespace kvbench
