#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "bench/machine/info_report.h"

namespace kvbench {

/// Where `kvbench info` keeps what it measured, so that asking again takes no seconds: one file of
/// JSON with the newest measurement of each kind.
///
/// A measurement stands for a new one for a day, on the same CPU model and instruction set, with
/// the same build of kvbench, threads, model shape and KV dtype. A build with uncommitted changes,
/// or of no commit, keeps nothing: two of them may differ.
class InfoCache {
 public:
  static constexpr int64_t kMaxAgeSeconds = 24 * 3600;

  /// @param file "" keeps and finds nothing
  explicit InfoCache(std::filesystem::path file) : file_(std::move(file)) {}

  /// $XDG_CACHE_HOME/kvbench/info.json or ~/.cache/kvbench/info.json; "" where neither variable is
  /// set. An XDG_CACHE_HOME that is no absolute path counts as not set, as its specification says.
  static std::filesystem::path DefaultFile();

  /// The kept measurement of the wanted kind: `wanted.read` and `roofs` (but its threads) are not
  /// looked at. A file that cannot be read or understood holds none.
  /// @param now_s seconds since 1970, UTC
  std::optional<MeasuredInfo> Find(const InfoReport& report, const MeasuredInfo& wanted,
                                   int64_t now_s) const;

  /// Keeps report.measured in place of an earlier one of its kind. Throws Error where the file
  /// cannot be written.
  void Keep(const InfoReport& report) const;

 private:
  std::filesystem::path file_;
};

}  // namespace kvbench
