#include <gtest/gtest.h>

#include "workloads/traces/request.h"

namespace kvbench {
namespace {

// Expected values are those of `printf ... | sha256sum`.
TEST(TraceDigestTest, IsTheSha256OfOneLineARequest) {
  Trace trace;
  EXPECT_EQ(TraceDigest(trace), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  trace.requests = {{0, 374, 44, {}}, {4'314'579'000, 396, 109, {}}};
  EXPECT_EQ(TraceDigest(trace), "97f6a034c8c5e9ae687bf40d7a03fa2db0d7f3ba37645035983a2776fb05db39");
  trace.requests[1].prefix_ids = {0, 1, 182789};
  EXPECT_EQ(TraceDigest(trace), "e1ef0e02b712f1924b9d4b4788cbb3fad14bdbbace0302a8c6b5459b6b19a2ac");
}

TEST(TraceDigestTest, DependsOnRequestsAlone) {
  Trace a;
  a.requests = {{5, 10, 20, {}}};
  Trace b = a;
  b.name = "other";
  b.seed = 3;
  EXPECT_EQ(TraceDigest(a), TraceDigest(b));
  b.requests[0].output_tokens = 21;
  EXPECT_NE(TraceDigest(a), TraceDigest(b));
}

}  // namespace
}  // namespace kvbench
