#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

namespace kvbench {

/// The slow, obvious buddy allocator: a vector of offsets for each size, searched from end to end.
struct NaiveBuddy {
  int64_t max_chunk;
  std::map<int64_t, std::vector<int64_t>> free;  // size -> offsets, the last one is taken first

  NaiveBuddy(int64_t units, int64_t max_chunk_units) : max_chunk(max_chunk_units) {
    int64_t offset = 0;
    for (int64_t size = max_chunk; size >= 1; size /= 2) {
      while (units - offset >= size) {
        free[size].push_back(offset);
        offset += size;
      }
    }
  }

  int64_t Allocate(int64_t chunk) {
    for (int64_t size = chunk; size <= max_chunk; size *= 2) {
      if (!free[size].empty()) {
        const int64_t offset = free[size].back();
        free[size].pop_back();
        for (int64_t half = size / 2; half >= chunk; half /= 2) {
          free[half].push_back(offset + half);
        }
        return offset;
      }
    }
    return -1;
  }

  void Free(int64_t offset, int64_t size) {
    while (size < max_chunk) {
      auto& list = free[size];
      const auto buddy = std::find(list.begin(), list.end(), offset ^ size);
      if (buddy == list.end()) {
        break;
      }
      list.erase(buddy);
      offset &= ~size;
      size *= 2;
    }
    free[size].push_back(offset);
  }
};

}  // namespace kvbench
