#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/text_file.h"
#include "tests/workloads/testing.h"
#include "workloads/models/hf_config.h"
#include "workloads/traces/trace_reader.h"

// Mutants of real traces and configurations: each is read, or refused with one printable sentence.
// Nothing crashes, hangs or takes more memory than the text warrants (the address sanitizer watches
// the rest).

namespace kvbench {
namespace {

constexpr int kMutants = 10'000;
constexpr size_t kMostBytes = 64 * 1024;

struct Sample {
  std::string name;
  std::string text;
  bool is_config = false;
};

std::string FirstBytes(const std::filesystem::path& path) {
  std::string text = ReadTextFile(path.string());
  text.resize(std::min(text.size(), kMostBytes));
  return text;
}

std::vector<Sample> Samples() {
  std::vector<Sample> samples;
  if (std::filesystem::exists(SharedData() / "traces")) {
    for (const char* folder : {"traces", "configs"}) {
      for (const auto& entry :
           std::filesystem::recursive_directory_iterator(SharedData() / folder)) {
        if (entry.is_regular_file() && entry.path().extension() != ".md") {
          samples.push_back({entry.path().filename().string(), FirstBytes(entry.path()),
                             folder == std::string("configs")});
        }
      }
    }
    std::sort(samples.begin(), samples.end(),
              [](const Sample& a, const Sample& b) { return a.name < b.name; });
    return samples;
  }
  std::printf("The public traces are not at %s: small built-in samples are mutated instead.\n",
              SharedData().string().c_str());
  samples = {
      {"config.json",
       "{\"model_type\": \"gemma3\", \"text_config\": {\"head_dim\": 128, \"hidden_size\": 5376, "
       "\"intermediate_size\": 21504, \"num_attention_heads\": 32, \"num_hidden_layers\": 62, "
       "\"num_key_value_heads\": 16, \"sliding_window\": 1024}}",
       true},
  };
  for (const TraceFormat& format : TraceFormats()) {
    samples.push_back({format.name, format.example, false});
  }
  return samples;
}

bool IsTokenByte(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' ||
         c == '-' || c == '_';
}

/// Replaces the token around a random place.
void ReplaceToken(std::string& text, RandomStream& random) {
  static const std::vector<std::string> kTokens = {"99999999999999999999999999999999",
                                                   "9223372036854775807",
                                                   "-1",
                                                   "-9223372036854775808",
                                                   "1e309",
                                                   "-1e309",
                                                   "NaN",
                                                   "inf",
                                                   "0",
                                                   "null",
                                                   "true",
                                                   "\"text\"",
                                                   "\"",
                                                   "{}",
                                                   "1.0000001",
                                                   "1e-400",
                                                   "",
                                                   std::string(3000, '['),
                                                   std::string(3000, '{'),
                                                   "{\"a\":" + std::string(500, '['),
                                                   std::string(5000, '7'),
                                                   std::string("\0\xff\x1b[31m", 7),
                                                   "2023-02-30 25:61:61"};
  size_t begin = random.Below(text.size());
  size_t end = begin;
  while (begin > 0 && IsTokenByte(text[begin - 1])) {
    --begin;
  }
  while (end < text.size() && IsTokenByte(text[end])) {
    ++end;
  }
  text.replace(begin, end - begin, kTokens[random.Below(kTokens.size())]);
}

std::string Mutant(const std::string& original, RandomStream& random) {
  // A short piece half of the time, so that a change near the beginning is not all that counts.
  std::string text = original;
  if (random.Below(2) == 0) {
    text.resize(1 + random.Below(std::min<size_t>(text.size(), 4096)));
  }
  const uint64_t changes = 1 + random.Below(3);
  for (uint64_t i = 0; i < changes && !text.empty(); ++i) {
    switch (random.Below(6)) {
      case 0:
        text[random.Below(text.size())] ^= static_cast<char>(1 << random.Below(8));
        break;
      case 1:
        text[random.Below(text.size())] = static_cast<char>(random.Below(256));
        break;
      case 2:
        text.resize(random.Below(text.size()));
        break;
      case 3: {
        const size_t at = random.Below(text.size());
        text.erase(at, 1 + random.Below(64));
        break;
      }
      default:
        ReplaceToken(text, random);
    }
  }
  return text;
}

/// What is wrong with an error sentence, or nothing.
std::string Complaint(const std::string& sentence) {
  if (sentence.empty()) {
    return "it is empty";
  }
  if (sentence.size() >= 400) {
    return "it is too long";
  }
  for (const char c : sentence) {
    if (c < 0x20 || c >= 0x7f) {
      return "it holds bytes that are not printable";
    }
  }
  return "";
}

TEST(FuzzTest, EveryMutantIsReadOrRefusedWithASentence) {
  const char* chosen = std::getenv("KVBENCH_FUZZ_SEED");  // to repeat a failure
  const uint64_t seed =
      chosen != nullptr
          ? std::strtoull(chosen, nullptr, 10)
          : static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  RecordProperty("seed", std::to_string(seed));
  RandomStream random(seed, "fuzz");
  const std::vector<Sample> samples = Samples();
  int read = 0;
  int refused = 0;
  for (int i = 0; i < kMutants; ++i) {
    const Sample& sample = samples[static_cast<size_t>(i) % samples.size()];
    const std::string mutant = Mutant(sample.text, random);
    try {
      if (sample.is_config) {
        ParseHfConfig(mutant, sample.name, sample.name);
      } else {
        ReadTraceText(mutant, sample.name,
                      {.limit = static_cast<int64_t>(random.Below(4) == 0 ? 5 : 0)});
      }
      ++read;
    } catch (const Error& error) {
      ++refused;
      ASSERT_EQ(Complaint(error.what()), "")
          << "mutant " << i << " of " << sample.name << " (seed " << seed << "): " << error.what();
    }
  }
  std::printf("%d mutants of %zu files: %d read, %d refused\n", kMutants, samples.size(), read,
              refused);
  EXPECT_EQ(read + refused, kMutants);
  EXPECT_GT(refused, kMutants / 10);
  EXPECT_GT(read, 0);
}

}  // namespace
}  // namespace kvbench
