// The head of a results file, and where merged runs come from.
#include "results/record/codec.h"
#include "results/record/record.h"

namespace kvbench {

const Description& ResultsFile::Describe() {
  using T = ResultsFile;
  static const Description description =
      DescriptionOf<T>("What a run of kvbench writes. tools/validate_results checks more.",
                       {
                           F<&T::kvbench>("", "the program that wrote the file"),
                           F<&T::environment>("", "the machine that the program ran on"),
                           F<&T::run_info>("", "this invocation of the program"),
                           F<&T::runs>("", "each repetition of each run", {.streamed = true}),
                       });
  return description;
}

const Description& KvbenchInfo::Describe() {
  using T = KvbenchInfo;
  static const Description description = DescriptionOf<T>(
      "A build of kvbench.", {
                                 F<&T::version>("", "0.1.0", {.range = Range::kNotEmpty}),
                                 F<&T::commit>("", "of the sources"),
                                 F<&T::build_type>("", "Release"),
                                 F<&T::compiler>("", "name and version"),
                                 F<&T::cuda_version>("", "of the toolkit that it was built with"),
                             });
  return description;
}

const Description& GpuInfo::Describe() {
  using T = GpuInfo;
  static const Description description = DescriptionOf<T>(
      "A GPU.", {
                    F<&T::name>("", "as its driver calls it", {.range = Range::kNotEmpty}),
                    F<&T::memory_bytes>("bytes", "", {.range = Range::kPositive}),
                    F<&T::driver>("", "its version"),
                    F<&T::compute_capability>("", "9.0", {.pattern = R"(^[0-9]+\.[0-9]+$)"}),
                    F<&T::l2_bytes>("bytes", "of the level 2 cache", {.range = Range::kPositive}),
                });
  return description;
}

const Description& Environment::Describe() {
  using T = Environment;
  static const Description description = DescriptionOf<T>(
      "A machine.",
      {
          F<&T::os>("", "name and version of the operating system"),
          F<&T::cpu_model>("", "as the CPU calls itself"),
          F<&T::cpu_isa>("", "the instruction set that the kernels chose: AVX2"),
          F<&T::cores>("", "as the operating system counts them", {.range = Range::kPositive}),
          F<&T::memory_bytes>("bytes", "of main memory", {.range = Range::kPositive}),
          F<&T::boot_id>("", "random, the same until the machine starts anew",
                         {.range = Range::kNotEmpty, .since = 3}),
          F<&T::gpu>("", "the GPU that is used, or would be"),
          F<&T::read_roof_bytes_per_s>(
              "bytes/s",
              "what it reads from memory at best: measured, never from a data sheet, with as many "
              "threads as the measured run that has most"),
          F<&T::read_roof_spread>("", "of the read roof: (90th - 10th percentile) / median",
                                  {.since = 2}),
      });
  return description;
}

const Description& RunInfo::Describe() {
  using T = RunInfo;
  static const Description description = DescriptionOf<T>(
      "An invocation of kvbench.",
      {
          F<&T::command>("", "the whole command line, ready to be repeated"),
          F<&T::suite>("", "the suite's name"),
          F<&T::started_at>(
              "", "RFC 3339, UTC",
              {.pattern = R"(^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$)"}),
          F<&T::duration_s>("s", "wall clock"),
          F<&T::complete>("", "false: interrupted, some runs are missing"),
      });
  return description;
}

const Description& RunOrigin::Describe() {
  using T = RunOrigin;
  static const Description description = DescriptionOf<T>(
      "The invocation and machine that a run of a merged file comes from.",
      {
          F<&T::started_at>("", "as in run_info"),
          F<&T::command>("", "as in run_info"),
          F<&T::commit>("", "as in kvbench"),
          F<&T::cpu_model>("", "as in environment"),
          F<&T::cores>("", "as in environment", {.range = Range::kPositive}),
          F<&T::boot_id>("", "as in environment", {.range = Range::kNotEmpty, .since = 3}),
          F<&T::gpu>("", "as in environment"),
          F<&T::read_roof_bytes_per_s>("bytes/s", "as in environment"),
          F<&T::read_roof_spread>("", "as in environment"),
      });
  return description;
}

}  // namespace kvbench
