#include "bench/machine/info_cache.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <ostream>
#include <system_error>

#include "base/json.h"
#include "bench/output/output_file.h"

namespace kvbench {

namespace {

/// Of the file: one with another number is not understood.
constexpr int kFormat = 1;
/// Measurements that are kept, the newest.
constexpr size_t kMostEntries = 32;

bool IsOneBuild(const KvbenchInfo& program) {
  return program.commit && !program.commit->ends_with("-dirty");
}

/// Everything that a kept measurement must agree on.
nlohmann::json KindOf(const InfoReport& report, const MeasuredInfo& measured) {
  const ModelShape& m = measured.model;
  return {{"commit", report.program.commit.value_or("")},
          {"build_type", report.program.build_type},
          {"compiler", report.program.compiler},
          {"cpu_model", report.environment.cpu_model.value_or("")},
          {"cpu_isa", report.environment.cpu_isa.value_or("")},
          {"threads", measured.roofs.threads},
          {"kv_cache_dtype", DtypeName(measured.kv_cache_dtype)},
          {"model",
           {m.name, m.num_hidden_layers, m.hidden_size, m.num_attention_heads,
            m.num_key_value_heads, m.head_dim, m.intermediate_size, m.vocab_size}}};
}

nlohmann::json TableJson(const std::vector<RowRoof>& table) {
  nlohmann::json rows = nlohmann::json::array();
  for (const RowRoof& point : table) {
    rows.push_back({point.rows, point.seconds});
  }
  return rows;
}

std::vector<RowRoof> TableOf(const nlohmann::json& json) {
  std::vector<RowRoof> table;
  for (size_t i = 0; i < std::max<size_t>(1, json.size()); ++i) {  // none is empty: at(0) throws
    table.push_back({json.at(i).at(0).get<int64_t>(), json.at(i).at(1).get<double>()});
  }
  return table;
}

nlohmann::json MeasurementJson(const MeasuredInfo& measured) {
  const CpuRoofs& roofs = measured.roofs;
  nlohmann::json read = nlohmann::json::array();
  for (const ReadBandwidth& bandwidth : measured.read) {
    read.push_back({bandwidth.threads, bandwidth.bytes_per_s});
  }
  nlohmann::json decode = nlohmann::json::array();
  for (const DecodeRoof& roof : roofs.decode) {
    decode.push_back({roof.block_size, roof.seconds_per_key, roof.seconds_per_head});
  }
  return {
      {"load_average_1min", measured.load_average_1min ? nlohmann::json(*measured.load_average_1min)
                                                       : nlohmann::json(nullptr)},
      {"read", read},
      {"read_bytes_per_s", roofs.read_bytes_per_s},
      {"read_spread", roofs.read_spread},
      {"dense", TableJson(roofs.dense)},
      {"elementwise", TableJson(roofs.elementwise)},
      {"decode", decode},
      {"prefill", TableJson(roofs.prefill)},
      {"kv_write_bytes_per_s", roofs.kv_write_bytes_per_s},
      {"dispatch_s", roofs.dispatch_s}};
}

/// Fills in what was measured. Throws nlohmann::json::exception for what MeasurementJson did not
/// write.
void ReadMeasurement(const nlohmann::json& json, MeasuredInfo& measured) {
  const nlohmann::json& load = json.at("load_average_1min");
  measured.load_average_1min =
      load.is_null() ? std::nullopt : std::optional<double>(load.get<double>());
  measured.read.clear();
  for (const nlohmann::json& point : json.at("read")) {
    measured.read.push_back({point.at(0).get<int64_t>(), point.at(1).get<double>()});
  }
  CpuRoofs& roofs = measured.roofs;
  roofs.read_bytes_per_s = json.at("read_bytes_per_s").get<double>();
  roofs.read_spread = json.at("read_spread").get<double>();
  roofs.dense = TableOf(json.at("dense"));
  roofs.elementwise = TableOf(json.at("elementwise"));
  roofs.decode.clear();
  for (const nlohmann::json& roof : json.at("decode")) {
    roofs.decode.push_back(
        {roof.at(0).get<int32_t>(), roof.at(1).get<double>(), roof.at(2).get<double>()});
  }
  roofs.prefill = TableOf(json.at("prefill"));
  roofs.kv_write_bytes_per_s = json.at("kv_write_bytes_per_s").get<double>();
  roofs.dispatch_s = json.at("dispatch_s").get<double>();
}

/// The file's entries, newest first; none where there is no such file or it is something else.
nlohmann::json Entries(const std::filesystem::path& file) {
  std::ifstream stream(file);
  try {
    const nlohmann::json json = ParseJson(std::string(std::istreambuf_iterator<char>(stream), {}));
    if (json.value("format", nlohmann::json()) == kFormat && json.at("entries").is_array()) {
      return json["entries"];
    }
  } catch (const nlohmann::json::exception&) {
  }
  return nlohmann::json::array();
}

bool IsOfKind(const nlohmann::json& entry, const nlohmann::json& kind) {
  return entry.is_object() && entry.contains("kind") && entry["kind"] == kind;
}

}  // namespace

std::filesystem::path InfoCache::DefaultFile() {
  const auto folder = [](const char* variable) {
    const char* const value = std::getenv(variable);
    return std::filesystem::path(value != nullptr ? value : "");
  };
  if (const auto cache = folder("XDG_CACHE_HOME"); cache.is_absolute()) {
    return cache / "kvbench" / "info.json";
  }
  if (const auto home = folder("HOME"); home.is_absolute()) {
    return home / ".cache" / "kvbench" / "info.json";
  }
  return {};
}

std::optional<MeasuredInfo> InfoCache::Find(const InfoReport& report, const MeasuredInfo& wanted,
                                            int64_t now_s) const {
  if (file_.empty() || !IsOneBuild(report.program)) {
    return std::nullopt;
  }
  const nlohmann::json kind = KindOf(report, wanted);
  for (const nlohmann::json& entry : Entries(file_)) {
    if (!IsOfKind(entry, kind)) {
      continue;
    }
    try {
      MeasuredInfo measured = wanted;
      measured.measured_at_s = entry.at("measured_at_s").get<int64_t>();
      const int64_t age = now_s - measured.measured_at_s;
      if (age < 0 || age > kMaxAgeSeconds) {
        return std::nullopt;
      }
      ReadMeasurement(entry.at("measured"), measured);
      measured.from_cache = true;
      return measured;
    } catch (const nlohmann::json::exception&) {
      return std::nullopt;  // written by something else: measured again, and overwritten
    }
  }
  return std::nullopt;
}

void InfoCache::Keep(const InfoReport& report) const {
  if (file_.empty() || !report.measured || !IsOneBuild(report.program)) {
    return;
  }
  const nlohmann::json kind = KindOf(report, *report.measured);
  nlohmann::json entries = nlohmann::json::array();
  entries.push_back({{"kind", kind},
                     {"measured_at_s", report.measured->measured_at_s},
                     {"measured", MeasurementJson(*report.measured)}});
  for (const nlohmann::json& entry : Entries(file_)) {
    if (entries.size() < kMostEntries && !IsOfKind(entry, kind)) {
      entries.push_back(entry);
    }
  }
  std::error_code ignored;  // what is wrong shows when the file is written
  std::filesystem::create_directories(file_.parent_path(), ignored);
  const nlohmann::json json = {{"format", kFormat}, {"entries", std::move(entries)}};
  WriteFileAtomically(file_.string(), [&](std::ostream& out) { out << DumpJson(json, 1) << "\n"; });
}

}  // namespace kvbench
