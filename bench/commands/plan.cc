#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/quoting.h"
#include "base/units.h"
#include "bench/commands/command_line.h"
#include "bench/commands/commands.h"
#include "bench/output/output_file.h"
#include "bench/plan/plan_report.h"
#include "bench/run/run_spec.h"
#include "results/json/json_layout.h"

namespace kvbench {
namespace {

constexpr const char* kPlanExamples =
    R"(--context and --batch take lists (a,b,c) and ranges (1..64*2).
A path has a / in it or ends in .json. A hardware file is a JSON object with the keys memory_bytes,
memory_bandwidth_bytes_per_s, dense_flops_per_s, last_level_cache_bytes and link_bytes_per_s.

Examples:
  kvbench plan --model llama-2-7b --hardware a100-sxm4-80gb --context 4096 --batch 1,32
  kvbench plan --model llama-3-70b --hardware h100-sxm --tensor-parallel-size 4 \
      --context 8192 --batch 1..64*2 --gpu-hour-price 2.5
  kvbench plan --model gemma-3-27b --hardware h200-sxm --max-model-len 32768 --format json
)";

constexpr int64_t kMostTokens = int64_t{1} << 24;
constexpr int64_t kMostBatch = kMostRequests;
constexpr int64_t kMostDevices = 1024;
constexpr int64_t kMostBlock = 65'536;

/// The flags as typed; empty where a flag was not given.
struct PlanOptions {
  std::string model;
  std::string hardware;
  std::string context;
  std::string batch = "1";
  std::string output_tokens;
  std::string tensor_parallel_size = "1";
  std::string dtype = "float16";
  std::string kv_cache_dtype = "float16";
  std::string gpu_memory_utilization = "0.95";
  std::string gpu_memory;
  std::string max_model_len;
  std::string block_size = "16";
  std::string max_num_batched_tokens = "2560";
  std::string gpu_hour_price;
  std::string format = "text";
};

/// Parses a flag's value; an Error gets the flag's name in front.
template <typename Parse>
auto Flag(const char* flag, const std::string& text, Parse parse) {
  try {
    return parse(text);
  } catch (const Error& error) {
    throw Error(fmt::format("{}: {}", flag, error.what()), error.kind());
  }
}

int64_t Integer(const char* flag, const std::string& text, int64_t least, int64_t most) {
  const int64_t value =
      Flag(flag, text, [&](const std::string& t) { return ParseInteger(t, least); });
  if (value > most) {
    throw Error(
        fmt::format("{}: {} is more than {}, the most that can be planned for", flag, value, most));
  }
  return value;
}

std::vector<std::string> SplitAtCommas(const std::string& text) {
  std::vector<std::string> words;
  words.reserve(8);
  std::istringstream list(text);
  for (std::string word; std::getline(list, word, ',');) {
    words.push_back(word);
  }
  return words;
}

std::vector<int64_t> Integers(const char* flag, const std::string& text, int64_t least,
                              int64_t most) {
  const std::vector<std::string> words = SplitAtCommas(text);
  const std::vector<std::string> values =
      Flag(flag, text, [&](const std::string&) { return ExpandValues(words); });
  std::vector<int64_t> numbers;
  numbers.reserve(values.size());
  for (const std::string& value : values) {
    numbers.push_back(Integer(flag, value, least, most));
  }
  if (numbers.empty()) {
    throw Error(fmt::format("{}: it is empty; give whole numbers with commas between", flag));
  }
  constexpr size_t kMostValues = 64;
  if (numbers.size() > kMostValues) {
    throw Error(fmt::format("{}: {} values are more than {}; give fewer", flag, numbers.size(),
                            kMostValues));
  }
  return numbers;
}

double Utilization(const std::string& text) {
  const double value = ParseNumber(text);
  if (!(value > 0 && value <= 1)) {
    throw Error(
        fmt::format("{} is not above 0 and at most 1; 0.95 leaves 5 % to others", Quoted(text)));
  }
  return value;
}

double Price(const std::string& text) {
  const double value = ParseNumber(text);
  if (!(value >= 0 && value <= 1e6)) {
    throw Error(fmt::format("{} is no price in US dollars, for example 2.5", Quoted(text)));
  }
  return value;
}

int64_t GpuMemory(const std::string& text) {
  const int64_t bytes = ParseBytes(text);
  if (bytes == 0) {
    throw Error(fmt::format("{} is no memory; write a size such as 24GiB", Quoted(text)));
  }
  return bytes;
}

MemoryPlanInput ParseInput(const PlanOptions& options) {
  MemoryPlanInput input;
  input.model = Flag("--model", options.model, LoadModel);
  input.hardware = Flag("--hardware", options.hardware, LoadHardware);
  input.tensor_parallel =
      Integer("--tensor-parallel-size", options.tensor_parallel_size, 1, kMostDevices);
  input.dtype = Flag("--dtype", options.dtype, ParseDtype);
  input.kv_cache_dtype = Flag("--kv-cache-dtype", options.kv_cache_dtype, ParseDtype);
  input.utilization = Flag("--gpu-memory-utilization", options.gpu_memory_utilization, Utilization);
  if (!options.gpu_memory.empty()) {
    input.memory_bytes = Flag("--gpu-memory", options.gpu_memory, GpuMemory);
  }
  if (!options.max_model_len.empty()) {
    input.max_model_len = Integer("--max-model-len", options.max_model_len, 2, kMostTokens);
  }
  input.block_size =
      static_cast<int32_t>(Integer("--block-size", options.block_size, 1, kMostBlock));
  input.max_num_batched_tokens =
      Integer("--max-num-batched-tokens", options.max_num_batched_tokens, 1, kMostTokens);
  if (input.model_len() > kMostTokens) {
    throw Error(fmt::format("model {} has {} positions; give a --max-model-len of at most {}",
                            Quoted(input.model.name), input.model_len(), kMostTokens));
  }
  return input;
}

PlanRequest ParseRequest(const PlanOptions& options) {
  PlanRequest request;
  request.input = ParseInput(options);
  const int64_t longest = request.input.model_len();
  request.contexts = {longest};
  if (!options.context.empty()) {
    request.contexts = Integers("--context", options.context, 2, kMostTokens);
  }
  for (const int64_t context : request.contexts) {
    if (context > longest) {
      throw Error(fmt::format(
          "--context: {} tokens are longer than the max_model_len {} of {}; give a shorter context "
          "or --max-model-len {}",
          context, longest, request.input.model.name, context));
    }
  }
  request.batches = Integers("--batch", options.batch, 1, kMostBatch);
  if (!options.output_tokens.empty()) {
    request.output_tokens = Integer("--output-tokens", options.output_tokens, 1, kMostTokens);
  }
  if (!options.gpu_hour_price.empty()) {
    request.gpu_hour_price = Flag("--gpu-hour-price", options.gpu_hour_price, Price);
  }
  return request;
}

void Plan(const PlanOptions& options) {
  if (options.format != "text" && options.format != "json") {
    throw Error(fmt::format("--format: {} is neither text nor json", Quoted(options.format)));
  }
  const PlanReport report = BuildPlanReport(ParseRequest(options));
  WriteStandardOutput([&](std::ostream& out) {
    if (options.format == "text") {
      out << PlanText(report);
    } else {
      WriteJson(PlanJson(report), 0, out);
      out << "\n";
    }
  });
}

}  // namespace

void AddPlanCommand(Command app, Invocation&) {
  const auto options = std::make_shared<PlanOptions>();
  const Command command = app.Subcommand(
      "plan", "Plan memory: what fits on a machine, how often, and what would make it fit");
  command.Footer(kPlanExamples);
  const auto add = [&](const char* flag, std::string& value, const char* type,
                       const std::string& help, const char* group) {
    const CommandOption option = command.Add(flag, value, help).Type(type).Group(group);
    if (!value.empty()) {
      option.ShowDefault(value);
    }
    return option;
  };
  constexpr const char* kWhat = "What it is for";
  add("--model", options->model, "NAME|FILE",
      "a built-in model, or the path of a Hugging Face config.json", kWhat)
      .Required();
  add("--hardware", options->hardware, "NAME|FILE",
      "built-in hardware, or the path of a JSON file that describes one", kWhat)
      .Required();
  add("--context", options->context, "N,N",
      "tokens of a request, prompt and output (default: max_model_len)", kWhat);
  add("--batch", options->batch, "N,N", "requests at once", kWhat);
  add("--output-tokens", options->output_tokens, "N",
      "how many of the context are output (default: half of it)", kWhat);
  constexpr const char* kLimits = "Limits";
  add("--tensor-parallel-size", options->tensor_parallel_size, "N", "devices that share the model",
      kLimits);
  add("--dtype", options->dtype, "TYPE", "of weights and activations", kLimits);
  add("--kv-cache-dtype", options->kv_cache_dtype, "TYPE", "of K and V", kLimits);
  add("--gpu-memory-utilization", options->gpu_memory_utilization, "SHARE",
      "of the memory that may be used", kLimits);
  add("--gpu-memory", options->gpu_memory, "SIZE", "of one device, in place of the hardware's",
      kLimits);
  add("--max-model-len", options->max_model_len, "N",
      "tokens of the longest sequence (default: the model's)", kLimits);
  add("--block-size", options->block_size, "N", "slots in a block of the paged cache", kLimits);
  add("--max-num-batched-tokens", options->max_num_batched_tokens, "N",
      "tokens of the largest step, whose activations need room", kLimits);
  constexpr const char* kResult = "Result";
  add("--gpu-hour-price", options->gpu_hour_price, "USD",
      "of one device: adds the modelled cost of a million output tokens", kResult);
  add("--format", options->format, "text|json", "of what is printed", kResult);
  command.Do([options] { Plan(*options); });
}

}  // namespace kvbench
