#include "bench/designs/design_registry.h"

#include <fmt/format.h>

#include "base/error.h"
#include "baselines/contiguous_cache.h"
#include "baselines/growing_cache.h"
#include "baselines/no_cache.h"
#include "cache/paged_cache.h"

namespace kvbench {

namespace {

template <Reservation reservation>
std::unique_ptr<KvCache> MakeContiguous(const DesignParameters& p) {
  return std::make_unique<ContiguousCache>(reservation, p.slots, p.max_model_len);
}

std::unique_ptr<KvCache> MakeGrowing(const DesignParameters& p) {
  const Growth growth = p.growth == "concat" ? Growth::kConcat : Growth::kDouble;
  return std::make_unique<GrowingCache>(growth, p.slots, p.max_model_len);
}

std::unique_ptr<KvCache> MakePaged(const DesignParameters& p) {
  return std::make_unique<PagedCache>(p.slots, p.block_size);
}

}  // namespace

const std::vector<Design>& Designs() {
  static const std::vector<Design> kDesigns = {
      {"contiguous-max", "", "none", 0.0, "one chunk of max_model_len slots for each request",
       &MakeContiguous<Reservation::kMax>},
      {"contiguous-pow2", "", "none", 0.0, "prompt + next power of two of the output length",
       &MakeContiguous<Reservation::kPow2>},
      {"contiguous-oracle", "", "none", 0.0, "prompt + true output length",
       &MakeContiguous<Reservation::kOracle>},
      {"contiguous-growing", "growth", "recompute", 0.0,
       "a chunk for the prompt; a larger one when it is full, or by --growth for every token",
       &MakeGrowing},
      {"paged", "block-size", "recompute", PagedCache::kWatermark,
       "blocks of --block-size slots, taken as tokens come", &MakePaged},
      {"none", "", "none", 0.0, "no cache: every step computes the whole context again",
       [](const DesignParameters&) -> std::unique_ptr<KvCache> {
         return std::make_unique<NoCache>();
       },
       false},
  };
  return kDesigns;
}

const Design& FindDesign(std::string_view name) {
  std::string names;
  for (const Design& design : Designs()) {
    if (design.name == name) {
      return design;
    }
    names += names.empty() ? "" : ", ";
    names += design.name;
  }
  throw Error(fmt::format("unknown design '{}': there are {}", name, names));
}

}  // namespace kvbench
