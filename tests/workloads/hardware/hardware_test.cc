#include "workloads/hardware/hardware.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "base/text_file.h"
#include "tests/workloads/testing.h"

namespace kvbench {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(BuiltInHardwareTest, AllAreThereOnce) {
  std::set<std::string> names;
  for (const Hardware& hardware : BuiltInHardware()) {
    EXPECT_TRUE(names.insert(hardware.name).second) << hardware.name;
    EXPECT_FALSE(hardware.source.empty()) << hardware.name;
  }
  EXPECT_EQ(names.size(), 16u);
}

TEST(BuiltInHardwareTest, AnA100) {
  const Hardware a100 = LoadHardware("a100-sxm4-80gb");
  EXPECT_EQ(a100.memory_bytes, 84'986'665'369);
  EXPECT_EQ(a100.memory_bandwidth_bytes_per_s, 2.039e12);
  EXPECT_EQ(a100.dense_flops_per_s, 312e12);
  EXPECT_EQ(a100.last_level_cache_bytes, 40 << 20);
  EXPECT_EQ(a100.link_bytes_per_s, 300e9);
  EXPECT_EQ(LoadHardware("l4").link_bytes_per_s, 32e9) << "no GPU link: PCIe";
}

TEST(BuiltInHardwareTest, AreThePublishedFacts) {
  const auto path = SharedData() / "gpus.json";
  if (!std::filesystem::exists(path)) {
    GTEST_SKIP() << "the public hardware facts are not at " << path.string();
  }
  const auto published = nlohmann::json::parse(ReadTextFile(path.string()));
  size_t count = 0;
  for (const auto& want : published.at("gpus")) {
    const Hardware hardware = LoadHardware(want.at("name").get<std::string>());
    EXPECT_EQ(hardware.memory_bytes, want.at("memory_usable_bytes").get<int64_t>())
        << hardware.name;
    EXPECT_EQ(hardware.memory_bandwidth_bytes_per_s,
              want.at("memory_bandwidth_bytes_per_s").get<double>())
        << hardware.name;
    EXPECT_DOUBLE_EQ(hardware.dense_flops_per_s, want.at("fp16_dense_tflops").get<double>() * 1e12)
        << hardware.name;
    const char* const cache =
        want.contains("last_level_cache_bytes") ? "last_level_cache_bytes" : "l2_bytes";
    EXPECT_EQ(hardware.last_level_cache_bytes, want.at(cache).get<int64_t>()) << hardware.name;
    const auto& link = want.at("gpu_link_bytes_per_s_bidirectional");
    EXPECT_EQ(hardware.link_bytes_per_s,
              link.is_null() ? want.at("pcie_bytes_per_s_per_direction").get<double>()
                             : link.get<double>() / 2)
        << hardware.name;
    for (const auto& source : want.at("sources")) {
      EXPECT_THAT(hardware.source, HasSubstr(source.get<std::string>())) << hardware.name;
    }
    ++count;
  }
  EXPECT_EQ(count, BuiltInHardware().size());
}

TEST(LoadHardwareTest, UnknownNamesGetCloseOnes) {
  const std::string sentence = SentenceOf([] { LoadHardware("a100-sxm-80gb"); });
  EXPECT_THAT(sentence, testing::ContainsRegex(
                            "there is no hardware 'a100-sxm-80gb' .close: [^)]*a100-sxm4-80gb"));
  EXPECT_THAT(sentence, AllOf(HasSubstr("JSON file"), HasSubstr("mi300x")));
  EXPECT_THAT(SentenceOf([] { LoadHardware(""); }), HasSubstr("there is no hardware ''"));
}

class HardwareFileTest : public testing::Test {
 protected:
  std::string Write(const std::string& text) const {
    std::ofstream(path_) << text;
    return path_;
  }
  std::string Refused(const std::string& text) const {
    const std::string path = Write(text);
    const std::string sentence = SentenceOf([&] { LoadHardware(path); });
    EXPECT_THAT(sentence, HasSubstr("my-card.json: "));
    return sentence;
  }
  ~HardwareFileTest() override { std::filesystem::remove(path_); }

  std::string path_ = testing::TempDir() + "/my-card.json";
};

const char* const kGood =
    R"({"memory_bytes": 1000, "memory_bandwidth_bytes_per_s": 2.5e11, "dense_flops_per_s": 1e12,
        "last_level_cache_bytes": 100, "link_bytes_per_s": 16e9})";

TEST_F(HardwareFileTest, IsNamedAfterItsFile) {
  const Hardware hardware = LoadHardware(Write(kGood));
  EXPECT_EQ(hardware.name, "my-card");
  EXPECT_EQ(hardware.memory_bytes, 1000);
  EXPECT_EQ(hardware.memory_bandwidth_bytes_per_s, 2.5e11);
  EXPECT_EQ(hardware.link_bytes_per_s, 16e9);
  EXPECT_THAT(hardware.source, HasSubstr("my-card.json"));
}

TEST_F(HardwareFileTest, BrokenFilesAreASentence) {
  EXPECT_THAT(Refused(""), HasSubstr("no JSON"));
  EXPECT_THAT(Refused("[1]"), AllOf(HasSubstr("no JSON object"), HasSubstr("link_bytes_per_s")));
  EXPECT_THAT(Refused("{}"), HasSubstr("memory_bytes is missing; add it"));
  auto broken = nlohmann::json::parse(kGood);
  const auto with = [&](const char* key, const nlohmann::json& value) {
    nlohmann::json changed = broken;
    changed[key] = value;
    return Refused(changed.dump());
  };
  EXPECT_THAT(with("memory_bytes", "80GB"),
              AllOf(HasSubstr("memory_bytes is '\"80GB\"'"), HasSubstr("number above 0")));
  EXPECT_THAT(with("memory_bytes", 0.5), HasSubstr("whole number"));
  EXPECT_THAT(with("memory_bytes", -1), HasSubstr("above 0"));
  EXPECT_THAT(with("link_bytes_per_s", 1e300), HasSubstr("link_bytes_per_s is '1e+300'"));
  EXPECT_THAT(with("dense_flops_per_s", nullptr), HasSubstr("dense_flops_per_s is 'null'"));
  EXPECT_THAT(with("name", 3), HasSubstr("name is '3'; it is a text"));
  EXPECT_THAT(with("bandwidth", 3), HasSubstr("no key 'bandwidth'; the keys are name"));
  EXPECT_THAT(SentenceOf([] { LoadHardware("./no-such.json"); }),
              HasSubstr("cannot read ./no-such.json"));
}

}  // namespace
}  // namespace kvbench
