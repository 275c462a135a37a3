#include "results/json_splitter.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "results/bad_results.h"
#include "tests/results/compare_case.h"

namespace kvbench {
namespace {

using testing::ElementsAre;

class JsonSplitterTest : public CompareCase {
 protected:
  std::vector<std::string> Split(const std::string& text) const {
    std::vector<std::string> found;
    JsonParts parts;
    parts.skipped = {"timeline"};
    parts.on_value = [&](std::string_view key, const std::string& value) {
      found.push_back(std::string(key) + "=" + value);
    };
    parts.on_element = [&](std::string_view key, size_t index, const std::string& element) {
      found.push_back(std::string(key) + std::to_string(index) + "=" + element);
    };
    SplitJsonFile(Write("text.json", text), parts);
    return found;
  }
};

TEST_F(JsonSplitterTest, HandsOverValuesAndElements) {
  EXPECT_THAT(
      Split(R"( {"a" : 1.5e3, "b": {"c": [1, {"d": "}]\""}]} ,
                        "runs": [ {"x": [1, 2], "timeline": [{"t": "]"}], "y": null}, 7 ],
                        "z": "\\"} )"),
      ElementsAre("a=1.5e3", R"(b={"c": [1, {"d": "}]\""}]})", "runs=[]",
                  R"(runs0={"x":[1, 2],"timeline":null,"y":null})", "runs1=7", R"(z="\\")"));
  EXPECT_THAT(Split("{}"), ElementsAre());
  EXPECT_THAT(Split("\xEF\xBB\xBF{\"runs\":[]}"), ElementsAre("runs=[]"));
  EXPECT_THAT(Split("{\"runs\":3}"), ElementsAre("runs=3"));
}

TEST_F(JsonSplitterTest, PiecesOfTheFileMeetAnywhere) {
  // Strings with escapes that lie across the ends of the buffer, wherever those are.
  for (const size_t size : {262'100U, 262'130U, 262'139U, 262'140U, 262'141U, 262'143U, 524'280U}) {
    const std::string filler(size, 'x');
    const std::string text = "{\"runs\": [{\"a\": \"" + filler + "\\\"\\\\\", \"timeline\": [\"" +
                             filler + "]\"], \"b\": 1}], \"c\": 2}";
    EXPECT_THAT(
        Split(text),
        ElementsAre("runs=[]", "runs0={\"a\":\"" + filler + "\\\"\\\\\",\"timeline\":null,\"b\":1}",
                    "c=2"));
  }
}

TEST_F(JsonSplitterTest, SaysTheLine) {
  try {
    Split("{\n\"a\": 1,\n\"b\" 2}");
    FAIL();
  } catch (const BadResults& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("text.json, line 3: "));
  }
}

}  // namespace
}  // namespace kvbench
