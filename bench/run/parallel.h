#pragma once

#include <cstdint>
#include <functional>

namespace kvbench {

/// Calls work(0) .. work(count - 1) on `jobs` threads, each index once, in ascending order of their
/// beginnings. An exception stops what has not begun and is thrown again, the one of the lowest
/// index.
void ForEachParallel(int64_t count, int64_t jobs, const std::function<void(int64_t)>& work);

}  // namespace kvbench
