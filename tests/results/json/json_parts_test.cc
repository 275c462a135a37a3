#include "results/json/json_parts.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "base/error.h"

namespace kvbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// What is handed over: members, elements and what is cut out of those.
std::vector<std::string> Walk(const std::string& text) {
  std::vector<std::string> found;
  JsonWalk walk;
  walk.lists = {"runs"};
  walk.on_member = [&](std::string_view key, std::string_view value) {
    found.push_back(std::string(key) + "=" + std::string(value));
  };
  walk.on_element = [&](std::string_view list, size_t index, JsonScanner& scanner) {
    const std::string name = std::string(list) + std::to_string(index);
    const CutObject object = CutMembers(scanner, name, {"timeline", "notes"});
    found.push_back(name + "=" + object.rest);
    found.push_back("cut " + std::string(object.values[0]) + " " + std::string(object.values[1]));
  };
  WalkJson(text, walk);
  return found;
}

std::string Problem(const std::string& text) {
  try {
    Walk(text);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(JsonParts, HandsOverMembersAndElements) {
  EXPECT_THAT(Walk(R"( {"a" : 1.5e3, "b": {"c": [1, {"d": "}]\""}]} ,
                "runs": [ {"x": [1, 2], "timeline": [{"t": "]"}], "y": null}, {} ],
                "z": "\\"} )"),
              ElementsAre("a=1.5e3", R"(b={"c": [1, {"d": "}]\""}]})", "runs=[]",
                          R"(runs0={"x":[1, 2],"y":null})", R"(cut [{"t": "]"}] null)", "runs1={}",
                          "cut null null", R"(z="\\")"));
  EXPECT_THAT(Walk("{}"), ElementsAre());
  EXPECT_THAT(Walk("\xEF\xBB\xBF{\"runs\":[]}"), ElementsAre("runs=[]"));
  EXPECT_THAT(Walk("{\"runs\":3}"), ElementsAre("runs=3"));
}

TEST(JsonParts, SaysWhereItIsNoJson) {
  EXPECT_THAT(Problem("{\n\"a\": 1,\n\"b\" 2}"), HasSubstr("no JSON in line 3"));
  EXPECT_THAT(Problem("{\"runs\": [{\"a\": 1}, {\"b\": 2}"), HasSubstr("cut off"));
  EXPECT_THAT(Problem("{\"runs\": [{\"a\": 1},\n]}"), HasSubstr("no JSON in line 2"));
  EXPECT_THAT(Problem("{\"runs\": [{\"a\": 1}\n {\"a\": 1}]}"), HasSubstr("no JSON in line 2"));
  EXPECT_EQ(Problem("{\"runs\": [7]}"), "runs0 is no object");
  EXPECT_EQ(Problem("7"), "this is JSON, but no object");
  EXPECT_EQ(Problem(" \n"), "the file is empty");
}

TEST(JsonParts, SaysHowFarItIs) {
  const std::string text = R"({"runs": [{"a": 1}, {"b": 2}]})";
  std::vector<size_t> positions;
  JsonWalk walk;
  walk.lists = {"runs"};
  walk.on_member = [](std::string_view, std::string_view) {};
  walk.on_element = [](std::string_view, size_t, JsonScanner& scanner) { scanner.Value(); };
  walk.on_progress = [&](size_t bytes) { positions.push_back(bytes); };
  WalkJson(text, walk);
  EXPECT_THAT(positions, ElementsAre(text.find('}') + 1, text.size() - 2));
}

}  // namespace
}  // namespace kvbench
