#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "cache/kv_cache.h"

namespace kvbench {

/// What a design needs to know to be built.
struct DesignParameters {
  int64_t slots = 0;  ///< of the KV budget; the design cuts them down to whole blocks or units
  int32_t block_size = 16;
  int64_t max_model_len = 2048;
  std::string_view growth = "double";  ///< or "concat"
};

struct Design {
  std::string_view name;
  std::string_view axis;        ///< a flag that varies this design alone, "" for none
  std::string_view preemption;  ///< "recompute", or "none": what it admits always runs to its end
  double watermark;             ///< share of the blocks that admission leaves free
  std::string_view summary;     ///< one line for --help
  std::unique_ptr<KvCache> (*make)(const DesignParameters&);
  bool holds_cache = true;  ///< false: tokens are not kept, modelled only
};

/// All designs, in the order of tables. To add one, write its class and add its line.
const std::vector<Design>& Designs();

/// Throws Error listing the names for one that is not there.
const Design& FindDesign(std::string_view name);

}  // namespace kvbench
