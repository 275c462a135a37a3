// The description against the structs, the committed schema, CSV and files of before.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "results/compare/exact_fields.h"
#include "results/export/export_csv.h"
#include "results/record/field.h"
#include "results/record/json_reader.h"
#include "results/record/json_writer.h"
#include "results/record/schema.h"
#include "tests/results/example_results.h"

namespace kvbench {
namespace {

using Json = nlohmann::ordered_json;

std::string SourceFile(const std::string& name) {
  std::ostringstream text;
  text << std::ifstream(std::string(KVBENCH_SOURCE_DIR) + "/" + name).rdbuf();
  return text.str();
}

/// Calls `visit` once for each struct of a results file.
void ForEachObject(const std::function<void(const Description&)>& visit) {
  std::set<const Description*> seen;
  const std::function<void(const Description&)> walk = [&](const Description& object) {
    if (seen.insert(&object).second) {
      visit(object);
      for (const Field& field : object.fields()) {
        if (field.object() != nullptr) {
          walk(*field.object());
        }
      }
    }
  };
  walk(ResultsFile::Describe());
}

// Fields lie behind one another with nothing but padding between them: a member that no field
// describes would leave a hole.
TEST(Description, EveryMemberOfEveryStructIsAField) {
  const auto up = [](size_t offset, size_t alignment) {
    return (offset + alignment - 1) / alignment * alignment;
  };
  int64_t objects = 0;
  ForEachObject([&](const Description& object) {
    ++objects;
    alignas(64) static const std::byte storage[1 << 13] = {};
    ASSERT_LE(object.codec().size, sizeof(storage));
    size_t end = 0;
    for (const Field& field : object.fields()) {
      const auto offset =
          static_cast<size_t>(static_cast<const std::byte*>(field.at(storage)) - storage);
      EXPECT_EQ(offset, up(end, field.codec->alignment))
          << "no field describes the member before " << field.key << " of: " << object.meaning();
      end = offset + field.codec->size;
    }
    EXPECT_EQ(up(end, object.codec().alignment), object.codec().size)
        << "no field describes the last member of: " << object.meaning();
  });
  EXPECT_GT(objects, 20);
}

TEST(Description, EveryKeyIsThereOnce) {
  ForEachObject([](const Description& object) {
    for (const Field& field : object.fields()) {
      EXPECT_FALSE(field.key.empty());
      EXPECT_EQ(object.Find(field.key), &field) << field.key;
    }
  });
}

/// A value for each field, no two alike where the type allows it.
Json Distinct(const Codec& codec, int64_t& next) {
  switch (codec.type) {
    case FieldType::kText:
      return "text " + std::to_string(++next);
    case FieldType::kWhole:
      return ++next;
    case FieldType::kNumber:
    case FieldType::kRate:
      return static_cast<double>(++next) + 0.5;
    case FieldType::kBool:
      return next % 2 == 0;
    case FieldType::kList:
      return Json::array({Distinct(codec.element(), next), Distinct(codec.element(), next)});
    case FieldType::kObject:
      break;
  }
  Json json = Json::object();
  for (const Field& field : codec.object().fields()) {
    if (!field.options.flat) {
      json[field.key] = Distinct(*field.codec, next);
      continue;
    }
    for (const Field& member : field.object()->fields()) {
      json[member.key] = Distinct(*member.codec, next);
    }
  }
  return json;
}

TEST(Description, WhatIsReadIsWritten) {
  int64_t next = 0;
  Json json = {{"schema_version", ResultsFile::kSchemaVersion}};
  json.update(Distinct(ResultsFile::Describe().codec(), next));
  EXPECT_GT(next, 300);
  EXPECT_EQ(Json::parse(ResultsJson(ParseResults(json.dump()))), json);
}

TEST(Description, TheCommittedSchemaIsWhatItSays) {
  const std::string name = "results/schema/results.schema.json";
  if (std::getenv("KVBENCH_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(std::string(KVBENCH_SOURCE_DIR) + "/" + name) << ResultsSchema();
  }
  EXPECT_EQ(ResultsSchema(), SourceFile(name))
      << name << " is stale; run with KVBENCH_UPDATE_GOLDEN=1 and commit it";
}

/// Paths of what holds one value, by a run's schema.
void AddLeaves(const Json& schema, const std::string& prefix, std::vector<std::string>& paths) {
  for (const auto& [key, field] : schema["properties"].items()) {
    if (field.contains("properties")) {
      AddLeaves(field, prefix + key + ".", paths);
    } else if (!field.contains("items")) {
      paths.push_back(prefix + key);
    }
  }
}

TEST(Description, SchemaCsvAndJsonHaveTheSameFields) {
  const Json run = Json::parse(ResultsSchema())["properties"]["runs"]["items"];
  std::vector<std::string> paths;
  AddLeaves(run, "", paths);
  std::ostringstream csv;
  WriteRunsCsv({}, csv);
  std::string heading;
  for (const std::string& path : paths) {
    heading += (heading.empty() ? "" : ",") + path;
  }
  EXPECT_EQ(csv.str(), heading + "\n");
  std::vector<std::string> keys;
  const Json empty = RunJson({});
  for (const auto& [key, value] : empty.items()) {
    keys.push_back(key);
  }
  EXPECT_EQ(run["required"], keys);
}

TEST(Description, OurOwnReferenceIsRead) {
  const ResultsFile file = ParseResults(SourceFile("results/reference/ci.json"));
  EXPECT_GT(file.runs.size(), 50U);
  EXPECT_EQ(ParseResults(ResultsJson(file)).runs.size(), file.runs.size());
}

/// Without the keys that came after schema 1.0.
void MakeOld(const Description& object, Json& json) {
  for (const Field& field : object.fields()) {
    if (field.options.since > 0) {
      json.erase(field.key);
    } else if (field.object() != nullptr && json.contains(field.key)) {
      Json& value = json[field.key];
      if (value.is_object()) {
        MakeOld(*field.object(), value);
      } else if (value.is_array()) {
        for (Json& element : value) {
          MakeOld(*field.object(), element);
        }
      }
    }
  }
}

TEST(Description, FilesOfTheFirstVersionAreRead) {
  Json old = Json::parse(ResultsJson(ExampleResults()));
  MakeOld(ResultsFile::Describe(), old);
  old["schema_version"] = "1.0";
  ASSERT_FALSE(old["runs"][0]["executor"].contains("dense"));
  ASSERT_FALSE(old["runs"][0].contains("notes"));
  const ResultsFile file = ParseResults(old.dump());
  ASSERT_EQ(file.runs.size(), ExampleResults().runs.size());
  EXPECT_TRUE(file.runs[0].executor.dense);
  EXPECT_EQ(file.runs[0].trace.prefix_reuse, "ignored");
  EXPECT_TRUE(file.runs[3].notes.empty());
  EXPECT_EQ(file.runs[3].verification->checked_layers, 0);
  EXPECT_FALSE(file.runs[5].origin);
  EXPECT_EQ(file.runs[3].ttft["p99"], ExampleResults().runs[3].ttft["p99"]);
  // What a merge makes of it has everything.
  Json run = RunRecord::Describe().Complete(old["runs"][3]);
  EXPECT_EQ(run, RunJson(file.runs[3]));
  run["a_newer_key"] = 1;
  EXPECT_EQ(RunRecord::Describe().Complete(run), run);
}

TEST(Description, SaysWhatMustBeEqual) {
  using enum RunKind;
  EXPECT_TRUE(MustBeEqual(kTimed, "design.block_size"));
  EXPECT_TRUE(MustBeEqual(kTimed, "verification.passed"));
  EXPECT_FALSE(MustBeEqual(kTimed, "steps"));
  EXPECT_TRUE(MustBeEqual(kAllAtOnce, "kv.usage_per_step.live"));
  EXPECT_TRUE(MustBeEqual(kAllAtOnce, "rejected_reasons.0.count"));
  EXPECT_TRUE(MustBeEqual(kAllAtOnce, "window.excluded.requests.1.last"));
  for (const char* path : {"kv.usage_over_time.live", "while_waiting.duration_s", "p99_itl_ms",
                           "phases.dense", "executor.roofs.read_spread"}) {
    EXPECT_FALSE(MustBeEqual(kPredicted, path)) << path;
    EXPECT_TRUE(MustBeEqual(kModelled, path)) << path;
  }
  EXPECT_FALSE(MustBeEqual(kModelled, "origin.gpu.name"));
  EXPECT_TRUE(IsTiming("goodput"));
  EXPECT_FALSE(IsTiming("steps"));
  // Of a newer version.
  EXPECT_TRUE(MustBeEqual(kAllAtOnce, "kv.new_count"));
  EXPECT_FALSE(MustBeEqual(kAllAtOnce, "p99.9_ttft_ms"));
  EXPECT_TRUE(IsTiming("p99.9_ttft_ms"));
}

TEST(Description, PathsLeadToValues) {
  const RunRecord run = ExampleRun("paged");
  EXPECT_EQ(RecordField("kv.token_usage").Shown(run), 93.75);
  EXPECT_EQ(RecordField("while_waiting.mean_running_requests").Shown(run), 36.75);
  EXPECT_EQ(RecordField("completed").Shown(run), 94);
  EXPECT_EQ(RecordField("p99_ttft_ms").Shown(run), run.ttft["p99"]);
  EXPECT_EQ(RecordField("p99_ttft_ms").field().heading_unit, "p99 ms");
  EXPECT_EQ(RecordField("timeline.live").path(), "timeline[].live");
  EXPECT_FALSE(RecordField("executor.roofs.read_spread").Shown(run));
  EXPECT_FALSE(RecordField("trace.request_rate").Shown(run));  // infinite
  EXPECT_FALSE(RecordField("label").Shown(run));
}

}  // namespace
}  // namespace kvbench
