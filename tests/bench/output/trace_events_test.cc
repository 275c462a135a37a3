#include "bench/output/trace_events.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

namespace kvbench {
namespace {

using testing::HasSubstr;

nlohmann::json Written(const TraceEvents& events) {
  std::ostringstream out;
  events.Write(out);
  return nlohmann::json::parse(out.str());
}

/// Those of one kind.
std::vector<nlohmann::json> OfPhase(const nlohmann::json& file, const std::string& phase) {
  std::vector<nlohmann::json> events;
  for (const nlohmann::json& event : file["traceEvents"]) {
    if (event["ph"] == phase) {
      events.push_back(event);
    }
  }
  return events;
}

void AddSteps(RangeSink& sink, const std::string& label, int steps) {
  sink.BeginRun(label);
  sink.Begin(RangeKind::kRun, {0});
  for (int i = 0; i < steps; ++i) {
    sink.Begin(RangeKind::kStep, {7, i});
    sink.End();
  }
  sink.End();
}

TEST(TraceEventsTest, WithoutRunsTheFileIsEmptyAndValid) {
  const nlohmann::json file = Written(TraceEvents());
  EXPECT_TRUE(file["traceEvents"].empty());
  EXPECT_EQ(file["otherData"]["left_out"], 0);
}

TEST(TraceEventsTest, ARunIsAProcessWithItsLabelAndAxes) {
  TraceEvents events;
  AddSteps(events.AddRun(), "a \"quoted\" \xff label", 2);
  events.DescribeLastRun("design=paged");
  AddSteps(events.AddRun(), "second", 1);
  EXPECT_EQ(events.events(), 5);
  const nlohmann::json file = Written(events);
  std::map<std::string, nlohmann::json> metadata;
  for (const nlohmann::json& event : OfPhase(file, "M")) {
    metadata[event["name"].get<std::string>() + std::to_string(event["pid"].get<int>())] =
        event["args"];
  }
  EXPECT_THAT(metadata["process_name1"]["name"], HasSubstr("a \"quoted\""));
  EXPECT_EQ(metadata["process_labels1"]["labels"], "design=paged");
  EXPECT_EQ(metadata["process_name2"]["name"], "second");
  EXPECT_EQ(metadata["thread_name1"]["name"], "engine");
  const std::vector<nlohmann::json> complete = OfPhase(file, "X");
  ASSERT_EQ(complete.size(), 5U);
  EXPECT_EQ(complete[0]["name"], "run");
  EXPECT_EQ(complete[2]["args"], nlohmann::json({{"sequences", 7}, {"step", 1}}));
  EXPECT_EQ(complete[2]["cat"], "step");
  EXPECT_EQ(complete[4]["pid"], 2);
}

TEST(TraceEventsTest, PastTheLimitEventsAreCountedAndTheRestStaysNested) {
  TraceEvents events(3);
  AddSteps(events.AddRun(), "first", 5);
  AddSteps(events.AddRun(), "second", 1);
  EXPECT_EQ(events.events(), 3);
  EXPECT_EQ(events.left_out(), 5);
  const nlohmann::json file = Written(events);
  const std::vector<nlohmann::json> complete = OfPhase(file, "X");
  ASSERT_EQ(complete.size(), 3U);
  EXPECT_EQ(complete[0]["name"], "run") << "what began before the limit is whole";
  EXPECT_EQ(file["otherData"]["left_out"], 5);
  EXPECT_THAT(file["otherData"]["note"], HasSubstr("5 events are left out"));
}

TEST(TraceEventsTest, ARunThatIsMeasuredAgainGivesItsRoomBack) {
  TraceEvents events(10);
  AddSteps(events.AddRun(), "first", 8);
  events.DropLastRun();
  AddSteps(events.AddRun(), "again", 8);
  EXPECT_EQ(events.left_out(), 0);
  const nlohmann::json file = Written(events);
  EXPECT_EQ(OfPhase(file, "X").size(), 9U);
  EXPECT_EQ(OfPhase(file, "M")[0]["args"]["name"], "again");
}

TEST(TraceEventsTest, MoreEventsThanAChunkHoldsKeepTheirOrder) {
  TraceEvents events;
  AddSteps(events.AddRun(), "long", 10'000);
  const std::vector<nlohmann::json> complete = OfPhase(Written(events), "X");
  ASSERT_EQ(complete.size(), 10'001U);
  for (size_t i = 1; i < complete.size(); ++i) {
    ASSERT_EQ(complete[i]["args"]["step"], i - 1);
    ASSERT_GE(complete[i]["ts"].get<double>(), complete[i - 1]["ts"].get<double>());
  }
}

TEST(TraceEventsTest, WhatIsStillOpenIsNotWritten) {
  TraceEvents events;
  RangeSink& sink = events.AddRun();
  sink.BeginRun("cut");
  sink.Begin(RangeKind::kRun, {0});
  sink.Begin(RangeKind::kStep, {1, 0});
  sink.End();
  const std::vector<nlohmann::json> complete = OfPhase(Written(events), "X");
  ASSERT_EQ(complete.size(), 1U);
  EXPECT_EQ(complete[0]["name"], "step");
}

}  // namespace
}  // namespace kvbench
