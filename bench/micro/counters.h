#pragma once

#include <benchmark/benchmark.h>

namespace kvbench::micro {

/// A counter per second of wall time. `amount` is what one iteration does.
inline benchmark::Counter PerSecond(double amount,
                                    benchmark::Counter::OneK base = benchmark::Counter::kIs1000) {
  return benchmark::Counter(amount, benchmark::Counter::kIsIterationInvariantRate, base);
}

/// Registration, one function a file; flags are read after it.
void RegisterAttention();
void RegisterDense();
void RegisterEngine();
void RegisterKv();

}  // namespace kvbench::micro
