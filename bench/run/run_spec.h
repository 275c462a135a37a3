#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/engine/limits.h"
#include "bench/engine/metrics.h"
#include "workloads/models/model_shape.h"

namespace kvbench {

/// Share of a device's memory that a memory plan may use, as in the vLLM paper's experiments.
constexpr double kDefaultUtilization = 0.95;

/// What a rate search asks of a run. The highest request rate at which the run holds it is sought.
struct RateGoal {
  enum class Kind {
    kNone,               ///< no search: the run has the rate that it was given
    kNormalizedLatency,  ///< mean over requests of end-to-end latency / output tokens: at most
                         ///< s_per_token (the key metric of the vLLM paper)
    kSlo,                ///< at least `share` of the requests meet every goal of the run's Slo;
                         ///< rejected ones do not
  };
  Kind kind = Kind::kNone;
  double s_per_token = 0;
  double share = 0.99;
};

/// One run: trace x design x model x dtypes x executor x limits. Flags, suite keys and the record
/// all come from here: to add a parameter, add a member and its line in RunFields().
struct RunSpec {
  // what
  std::string model = "twin-mha";
  std::string design = "paged";
  int32_t block_size = 16;
  std::string growth = "double";
  Dtype kv_cache_dtype = Dtype::kFp16;
  std::optional<Dtype> dtype;  ///< of the weights; not given: what the executor has
  int64_t kv_memory = 0;       ///< bytes on all devices, 0: what the memory plan leaves
  double gpu_memory_utilization = kDefaultUtilization;  ///< modelled: of the memory plan
  int64_t tensor_parallel_size = 1;                     ///< modelled: devices
  EngineLimits limits;

  // requests: a file, or lengths and arrivals
  std::string trace;
  int64_t limit = 0;  ///< first requests of the file, 0: all
  std::string columns;
  std::string lengths;
  std::string arrivals;  ///< "": the file's own; for lengths poisson with a rate, else all-at-once
  double rate = 0;       ///< requests/s, 0: not given
  int64_t requests = 100;
  int64_t duration_ps = 0;  ///< requests that arrive before it, however many; 0: by number
  int64_t seed = 0;

  // how
  std::string executor = "cpu";
  std::string hardware;     ///< modelled: whose step times
  std::string calibration;  ///< modelled; "": the hardware's own
  int64_t threads = 0;      ///< cpu; 0: all cores
  bool dense = true;
  std::string attention_kernel = "auto";  ///< cpu: a name of the registry
  MetricsWindow window;
  Slo slo;
  RateGoal find_rate;            ///< modelled: `rate` is then where the search starts
  double rate_tolerance = 0.01;  ///< of a rate search, relative

  bool modelled() const { return executor == "modelled"; }
  bool on_gpu() const { return executor == "cuda"; }
};

/// A parameter: its name is the flag without dashes and the key in a suite file.
struct RunField {
  std::string_view name;
  std::string_view value_name;  ///< in --help
  std::string_view group;       ///< heading in --help
  std::string help;
  void (*set)(RunSpec&, const std::string& value);  ///< throws Error
  bool is_list = true;  ///< on the command line a comma separates values
};
const std::vector<RunField>& RunFields();

/// The values that each parameter takes, by its name; a parameter with several is an axis.
using AxisValues = std::map<std::string, std::vector<std::string>, std::less<>>;

/// Ranges "1..4+0.5" (step) and "1..256*2" (factor), both ends included, as single values; others
/// as they are.
std::vector<std::string> ExpandValues(const std::vector<std::string>& values);

/// A suite file: a JSON object with the parameters' names as keys, a value or a list each, and
/// optionally "name", "description" and "runs": a list of objects with parameters again, each of
/// which stands for a set of runs. A set has the suite's parameters and in their place its own, so
/// that designs may have limits of their own:
///   {"seed": [0, 1], "runs": [{"design": "contiguous-max", "max-num-seqs": 256},
///                             {"design": "paged", "max-num-seqs": 2048}]}
struct Suite {
  std::string name;
  std::string description;
  AxisValues axes;
  std::vector<AxisValues> runs;  ///< empty: one set, of the axes above

  /// The axes of each set, at least one.
  std::vector<AxisValues> Sets() const;
};

/// The suite of that path, or the built-in one of that name. Throws Error naming file and key.
Suite LoadSuite(const std::string& path_or_name);

/// One suite's text; `path_or_name` is for sentences, and names a suite without a name.
Suite ParseSuite(const std::string& text, const std::string& path_or_name);

/// The values of a flag's text: split at commas where the field is a list, ranges expanded.
std::vector<std::string> SplitValues(const RunField& field, const std::string& text);

/// All combinations of the axes, the last field varying fastest; what varies one design alone, such
/// as the block size, is no axis of the others. Throws Error naming the flag.
std::vector<RunSpec> ExpandRuns(const AxisValues& axes);

}  // namespace kvbench
