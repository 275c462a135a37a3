#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "results/compared_file.h"

namespace kvbench {

/// On what machine and day runs were made, and what it read from memory then.
struct RunSitting {
  std::string name;  ///< "AMD EPYC, 2 cores on 2025-01-31"
  std::optional<RunRoof> roof;
};

/// @param machine has cpu_model, cores, gpu (an object or null), read_roof_bytes_per_s
/// @param when has started_at
RunSitting SittingOf(const nlohmann::json& machine, const nlohmann::json& when);

/// The part of a results file before its runs.
class ResultsHead {
 public:
  void Set(std::string_view key, const nlohmann::json& value) { head_[std::string(key)] = value; }

  bool has_version() const { return head_.contains("schema_version"); }
  /// Throws BadResults naming the file where environment or run_info are no objects.
  void Check(const std::string& path) const;
  /// The rest needs a checked head.
  std::optional<std::string> suite() const;
  bool complete() const;
  RunSitting Sitting() const;
  const nlohmann::json& json() const { return head_; }

 private:
  nlohmann::json head_ = nlohmann::json::object();
};

/// What a JSON library's exception says, without its number and its name.
std::string WithoutPrefix(const nlohmann::json::exception& error);

}  // namespace kvbench
