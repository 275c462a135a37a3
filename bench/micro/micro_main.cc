#include <benchmark/benchmark.h>

#include "bench/micro/counters.h"

int main(int argc, char** argv) {
  kvbench::micro::RegisterAttention();
  kvbench::micro::RegisterKv();
  kvbench::micro::RegisterDense();
  kvbench::micro::RegisterEngine();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
