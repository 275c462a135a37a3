#include "bench/machine/info_report.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/text.h"
#include "bench/machine/environment.h"

namespace kvbench {

namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kColumns = 100;
constexpr double kGiga = 1e9;

// Floating-point operations: a multiplication and an addition for each weight and row; for each
// (query head x visible key) both for q.k and for the weighted sum of values.
double DenseFlops(const RowRoof& point) {
  return 2 * static_cast<double>(point.rows) / point.seconds;
}
double WeightBytesPerSecond(const RowRoof& point) { return sizeof(float) / point.seconds; }
double PrefillFlops(const RowRoof& point, const ModelShape& model) {
  return 4 * static_cast<double>(model.head_dim) / point.seconds;
}
/// Bytes of K and V per second of long contexts.
double KvBytesPerSecond(const DecodeRoof& roof, const MeasuredInfo& measured) {
  return static_cast<double>(2 * measured.model.head_dim * DtypeBytes(measured.kv_cache_dtype)) /
         roof.seconds_per_key;
}
double ElementwiseNanoseconds(const RowRoof& point) {
  return 1e9 * point.seconds / static_cast<double>(point.rows);
}

// ---- text ----

std::string Line(std::string_view name, std::string_view value) {
  return Wrap(fmt::format("{:<15}{}", name, PrintableAscii(value)), kColumns, 15) + "\n";
}

std::string Plural(int64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string CachesText(const std::vector<CpuCache>& caches) {
  std::string text;
  for (const CpuCache& cache : caches) {
    const char* const suffix =
        cache.type == "Data" ? "d" : (cache.type == "Instruction" ? "i" : "");
    text += fmt::format("{}L{}{} {}", text.empty() ? "" : ", ", cache.level, suffix,
                        Bytes(cache.bytes));
    if (cache.instances > 1) {
      text += fmt::format(" x {}", cache.instances);
    }
  }
  return text.empty() ? "unknown" : text;
}

/// "3 h": whole minutes, hours or days.
std::string Age(int64_t seconds) {
  const int64_t minutes = seconds / 60;
  return minutes < 1         ? "under 1 min"
         : minutes < 60      ? fmt::format("{} min", minutes)
         : minutes < 48 * 60 ? fmt::format("{} h", minutes / 60)
                             : fmt::format("{} days", minutes / (24 * 60));
}

std::string MeasuredAtText(const MeasuredInfo& measured, int64_t now_s) {
  return fmt::format("{}, {} ago (--measure measures again)", Timestamp(measured.measured_at_s),
                     Age(now_s - measured.measured_at_s));
}

/// What pools get: they ask with madvise, so that "madvise" is as good as "always".
std::string HugePagesText(const MachineState& state) {
  const std::string setting = state.transparent_huge_pages.value_or("none");
  if (setting != "always" && setting != "madvise") {
    return setting + ": KV pools and weights lie on pages of 4 KiB";
  }
  std::string text = setting + ": KV pools and weights from 2 MiB on ask for them (madvise)";
  if (state.huge_page_share) {
    text += fmt::format(", and a pool tried out got {:.0f} %", 100 * *state.huge_page_share);
  }
  return text;
}

std::string GpuText(const GpuSurvey& survey) {
  if (!survey.built_with_cuda) {
    return Line("GPU", "not looked for: this kvbench was built without CUDA");
  }
  if (survey.gpus.empty()) {
    return Line("GPU", survey.problem.empty() ? "none" : "none: " + survey.problem);
  }
  std::string text;
  for (const DeviceProperties& properties : survey.gpus) {
    const GpuInfo gpu = DescribeGpu(properties);
    text +=
        Line("GPU", fmt::format("{}, compute capability {}, {}, {} of L2, {}, driver for CUDA {}",
                                gpu.name, gpu.compute_capability.value_or("unknown"),
                                Bytes(properties.memory_bytes), Bytes(properties.l2_bytes),
                                Plural(properties.multiprocessors, "multiprocessor"),
                                gpu.driver.value_or("unknown")));
  }
  if (survey.read_roof_bytes_per_s) {
    text +=
        Line("GPU read roof", fmt::format("{:.0f} GB/s", *survey.read_roof_bytes_per_s / kGiga));
  }
  return text;
}

std::string MachineText(const InfoReport& report) {
  const Environment& environment = report.environment;
  const MachineState& state = report.state;
  const std::string unknown = "unknown";
  std::string text =
      Line("kvbench", fmt::format("{} ({}, {} build, {})", report.program.version,
                                  report.program.commit.value_or("no commit"),
                                  report.program.build_type, report.program.compiler));
  text += Line("system", environment.os.value_or(unknown));
  text += Line("CPU", fmt::format("{}, {}", environment.cpu_model.value_or(unknown),
                                  Plural(environment.cores.value_or(0), "core")));
  text += Line("instructions", environment.cpu_isa.value_or(unknown));
  text += Line("caches", CachesText(state.caches));
  std::string memory =
      environment.memory_bytes ? Bytes(*environment.memory_bytes) : std::string(unknown);
  if (state.available_memory_bytes) {
    memory += fmt::format(", {} available", Bytes(*state.available_memory_bytes));
  }
  text += Line("memory", memory);
  text += Line("huge pages", HugePagesText(state));
  text += GpuText(report.gpus);
  text += Line("governor", state.frequency_governor.value_or(unknown));
  std::string load = unknown;
  if (state.load_average_1min && state.load_average_5min) {
    load = fmt::format("{:.2f} over 1 minute, {:.2f} over 5 minutes", *state.load_average_1min,
                       *state.load_average_5min);
  }
  text += Line("load average", load);
  if (report.measured && report.measured->from_cache) {
    text += Line("measured", MeasuredAtText(*report.measured, report.now_s));
  }
  return text;
}

std::string MeasuredText(const MeasuredInfo& measured) {
  const CpuRoofs& roofs = measured.roofs;
  const double roof = roofs.read_bytes_per_s;
  const auto share = [&](double bytes_per_s) { return 100 * bytes_per_s / roof; };
  std::string text = "\nread roof (memory)   GB/s\n";
  for (const ReadBandwidth& read : measured.read) {
    text +=
        fmt::format("  {:<14}{:>9.1f}\n", Plural(read.threads, "thread"), read.bytes_per_s / kGiga);
  }
  text += fmt::format("  between the measurements below: {:.1f} GB/s, spread {:.1f} %\n",
                      roof / kGiga, 100 * roofs.read_spread);

  const std::string with =
      fmt::format("{}, {}", PrintableAscii(measured.model.name), Plural(roofs.threads, "thread"));
  text += fmt::format("\ndense layers ({})\n", with);
  text += fmt::format("  {:>6}{:>11}{:>16}{:>12}\n", "rows", "GFLOP/s", "weights GB/s", "of roof");
  for (const RowRoof& point : roofs.dense) {
    const double bytes = WeightBytesPerSecond(point);
    text += fmt::format("  {:>6}{:>11.1f}{:>16.1f}{:>10.0f} %\n", point.rows,
                        DenseFlops(point) / kGiga, bytes / kGiga, share(bytes));
  }
  text += fmt::format("\nattention ({}, {} KV)\n", with, DtypeName(measured.kv_cache_dtype));
  text += fmt::format("  {:<20}{:>10}{:>12}{:>34}\n", "decode", "KV GB/s", "of roof",
                      "and ns per sequence and KV head");
  for (const DecodeRoof& decode : roofs.decode) {
    const std::string layout = decode.block_size == 0
                                   ? std::string("contiguous")
                                   : fmt::format("paged, block {}", decode.block_size);
    const double bytes = KvBytesPerSecond(decode, measured);
    text += fmt::format("  {:<20}{:>10.1f}{:>10.0f} %{:>34.0f}\n", layout, bytes / kGiga,
                        share(bytes), 1e9 * decode.seconds_per_head);
  }
  text += fmt::format("  {:<20}{:>10}\n", "prompt", "GFLOP/s");
  for (const RowRoof& point : roofs.prefill) {
    text += fmt::format("  {:<20}{:>10.1f}\n", Plural(point.rows, "token"),
                        PrefillFlops(point, measured.model) / kGiga);
  }
  text += "\nthe rest\n";
  text += fmt::format("  KV write {:.1f} GB/s; dispatch to all threads {:.1f} us\n",
                      roofs.kv_write_bytes_per_s / kGiga, 1e6 * roofs.dispatch_s);
  const RowRoof& few = roofs.elementwise.front();
  const RowRoof& many = roofs.elementwise.back();
  text += fmt::format(
      "  norms, rotary embedding, activation: {:.2f} ns per row and hidden element with {}, {:.2f} "
      "with {}\n",
      ElementwiseNanoseconds(few), Plural(few.rows, "row"), ElementwiseNanoseconds(many),
      many.rows);
  return text;
}

// ---- JSON ----

template <typename T>
Json OrNull(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

/// NaN and infinity are null.
Json Number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json MachineJson(const InfoReport& report) {
  const Environment& environment = report.environment;
  const MachineState& state = report.state;
  Json caches = Json::array();
  for (const CpuCache& cache : state.caches) {
    caches.push_back({{"level", cache.level},
                      {"type", cache.type},
                      {"bytes", cache.bytes},
                      {"instances", cache.instances}});
  }
  return {{"os", OrNull(environment.os)},
          {"cpu_model", OrNull(environment.cpu_model)},
          {"cpu_isa", OrNull(environment.cpu_isa)},
          {"cores", OrNull(environment.cores)},
          {"caches", caches},
          {"memory_bytes", OrNull(environment.memory_bytes)},
          {"available_memory_bytes", OrNull(state.available_memory_bytes)},
          {"transparent_huge_pages", OrNull(state.transparent_huge_pages)},
          {"pool_huge_page_share", OrNull(state.huge_page_share)},
          {"frequency_governor", OrNull(state.frequency_governor)},
          {"load_average_1min", OrNull(state.load_average_1min)},
          {"load_average_5min", OrNull(state.load_average_5min)}};
}

/// Null where nobody can say.
Json GpusJson(const GpuSurvey& survey) {
  if (!survey.built_with_cuda || !survey.problem.empty()) {
    return nullptr;
  }
  Json gpus = Json::array();
  for (const DeviceProperties& properties : survey.gpus) {
    const GpuInfo gpu = DescribeGpu(properties);
    gpus.push_back({{"name", gpu.name},
                    {"compute_capability", OrNull(gpu.compute_capability)},
                    {"memory_bytes", OrNull(gpu.memory_bytes)},
                    {"l2_bytes", OrNull(gpu.l2_bytes)},
                    {"multiprocessors", properties.multiprocessors},
                    {"read_roof_bytes_per_s",
                     gpus.empty() ? OrNull(survey.read_roof_bytes_per_s) : Json(nullptr)},
                    {"driver", OrNull(gpu.driver)}});
  }
  return gpus;
}

Json MeasuredJson(const MeasuredInfo& measured) {
  const CpuRoofs& roofs = measured.roofs;
  Json read = Json::array();
  for (const ReadBandwidth& bandwidth : measured.read) {
    read.push_back(
        {{"threads", bandwidth.threads}, {"bytes_per_s", Number(bandwidth.bytes_per_s)}});
  }
  Json dense = Json::array();
  for (const RowRoof& point : roofs.dense) {
    const double bytes = WeightBytesPerSecond(point);
    dense.push_back({{"rows", point.rows},
                     {"flops_per_s", Number(DenseFlops(point))},
                     {"weight_bytes_per_s", Number(bytes)},
                     {"read_roof_share", Number(bytes / roofs.read_bytes_per_s)}});
  }
  Json elementwise = Json::array();
  for (const RowRoof& point : roofs.elementwise) {
    elementwise.push_back(
        {{"rows", point.rows}, {"ns_per_row_and_hidden", Number(ElementwiseNanoseconds(point))}});
  }
  Json decode = Json::array();
  for (const DecodeRoof& roof : roofs.decode) {
    const double bytes = KvBytesPerSecond(roof, measured);
    decode.push_back({{"block_size", roof.block_size == 0 ? Json(nullptr) : Json(roof.block_size)},
                      {"kv_bytes_per_s", Number(bytes)},
                      {"read_roof_share", Number(bytes / roofs.read_bytes_per_s)},
                      {"ns_per_key_and_kv_head", Number(1e9 * roof.seconds_per_key)},
                      {"ns_per_sequence_and_kv_head", Number(1e9 * roof.seconds_per_head)}});
  }
  Json prefill = Json::array();
  for (const RowRoof& point : roofs.prefill) {
    prefill.push_back({{"prompt_tokens", point.rows},
                       {"flops_per_s", Number(PrefillFlops(point, measured.model))},
                       {"ns_per_head_and_visible_key", Number(1e9 * point.seconds)}});
  }
  return {{"measured_at", Timestamp(measured.measured_at_s)},
          {"from_cache", measured.from_cache},
          {"load_average_1min", OrNull(measured.load_average_1min)},
          {"model", measured.model.name},
          {"kv_cache_dtype", DtypeName(measured.kv_cache_dtype)},
          {"threads", roofs.threads},
          {"read_roof_by_threads", read},
          {"read_roof_bytes_per_s", Number(roofs.read_bytes_per_s)},
          {"read_roof_spread", Number(roofs.read_spread)},
          {"dense", dense},
          {"elementwise", elementwise},
          {"decode_attention", decode},
          {"prompt_attention", prefill},
          {"kv_write_bytes_per_s", Number(roofs.kv_write_bytes_per_s)},
          {"dispatch_us", Number(1e6 * roofs.dispatch_s)}};
}

}  // namespace

std::string InfoText(const InfoReport& report) {
  std::string text = MachineText(report);
  if (report.measured) {
    text += MeasuredText(*report.measured);
  }
  for (const std::string& doubt : report.doubts) {
    text += "\n" + Wrap("Warning: " + doubt, kColumns, 2) + "\n";
  }
  return text;
}

std::string InfoJson(const InfoReport& report) {
  const KvbenchInfo& program = report.program;
  const Json json = {{"kvbench",
                      {{"version", program.version},
                       {"commit", OrNull(program.commit)},
                       {"build_type", program.build_type},
                       {"compiler", program.compiler},
                       {"cuda_version", OrNull(program.cuda_version)}}},
                     {"machine", MachineJson(report)},
                     {"gpus", GpusJson(report.gpus)},
                     {"measured", report.measured ? MeasuredJson(*report.measured) : Json(nullptr)},
                     {"warnings", report.doubts}};
  // A model may be named after a file whose name is no UTF-8.
  return DumpJson(json, 2) + "\n";
}

}  // namespace kvbench
