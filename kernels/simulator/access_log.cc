#include "kernels/simulator/access_log.h"

#include <algorithm>
#include <array>
#include <set>

namespace kvbench {

namespace {

constexpr uintptr_t kSector = 32;
constexpr uint32_t kBanks = 32;
constexpr uint32_t kBankBytes = 4;

bool IsGlobal(AccessLog::Kind kind) {
  return kind == AccessLog::Kind::kGlobalLoad || kind == AccessLog::Kind::kGlobalStore;
}

}  // namespace

void AccessLog::Add(Kind kind, const Site& site, int warp, int lane, int64_t turn,
                    uintptr_t address, uint32_t bytes) {
  const auto [found, is_new] =
      index_.emplace(std::make_tuple(site.file, site.line, kind), static_cast<int>(places_.size()));
  if (is_new) {
    places_.push_back({.kind = kind, .site = ToString(site)});
  }
  open_[{found->second, warp, turn}].push_back({lane, address, bytes});
  if (IsGlobal(kind)) {
    bytes_at_[{address, static_cast<int>(kind)}] += bytes;
  }
}

void AccessLog::EndCta() {
  for (auto& [key, accesses] : open_) {
    Place& place = places_[static_cast<size_t>(key.place)];
    ++place.requests;
    for (const Access& access : accesses) {
      place.bytes += access.bytes;
    }
    if (IsGlobal(place.kind)) {
      std::set<uintptr_t> sectors;
      std::set<std::pair<uintptr_t, uint32_t>> distinct;
      for (const Access& access : accesses) {
        distinct.emplace(access.address, access.bytes);
        for (uintptr_t s = access.address / kSector;
             s <= (access.address + access.bytes - 1) / kSector; ++s) {
          sectors.insert(s);
        }
      }
      uintptr_t bytes = 0;
      for (const auto& [address, size] : distinct) {
        bytes += size;
      }
      place.units += static_cast<int64_t>(sectors.size());
      place.ideal_units += static_cast<int64_t>((bytes + kSector - 1) / kSector);
      continue;
    }
    // Lanes are served in groups that move at most 128 bytes: 32 of up to 4 bytes, 16 of 8, 8 of
    // 16. Lanes that read the same word share it; a bank gives one word a pass.
    std::sort(accesses.begin(), accesses.end(),
              [](const Access& a, const Access& b) { return a.lane < b.lane; });
    const uint32_t size = std::max(accesses.front().bytes, kBankBytes);
    const int group_lanes = static_cast<int>(kBanks * kBankBytes / size);
    for (size_t i = 0; i < accesses.size();) {
      const int group = accesses[i].lane / group_lanes;
      std::array<std::set<uintptr_t>, kBanks> words;
      for (; i < accesses.size() && accesses[i].lane / group_lanes == group; ++i) {
        const Access& access = accesses[i];
        for (uintptr_t w = access.address / kBankBytes;
             w <= (access.address + access.bytes - 1) / kBankBytes; ++w) {
          words[w % kBanks].insert(w);
        }
      }
      size_t passes = 0;
      for (const auto& bank : words) {
        passes = std::max(passes, bank.size());
      }
      place.units += static_cast<int64_t>(passes);
      ++place.ideal_units;
    }
  }
  open_.clear();
}

std::vector<AccessLog::Place> AccessLog::places() const { return places_; }

int64_t AccessLog::BytesIn(Kind kind, const void* begin, size_t bytes) const {
  const auto first = reinterpret_cast<uintptr_t>(begin);
  int64_t sum = 0;
  for (auto at = bytes_at_.lower_bound({first, 0});
       at != bytes_at_.end() && at->first.first < first + bytes; ++at) {
    if (at->first.second == static_cast<int>(kind)) {
      sum += at->second;
    }
  }
  return sum;
}

void AccessLog::Clear() { *this = {}; }

}  // namespace kvbench
