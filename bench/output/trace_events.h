#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

#include "bench/executors/ranges.h"

namespace kvbench {

/// Keeps the ranges of measured runs and writes them in the JSON Trace Event Format, which Perfetto
/// (ui.perfetto.dev) and chrome://tracing open: complete events ("ph": "X") with "ts" and "dur" in
/// microseconds. Each run is a process of its own whose time starts at 0 with its measured region,
/// so that designs lie one below the other. Events past a limit are counted and left out, those
/// inside them too, so that what is there stays nested.
class TraceEvents {
 public:
  static constexpr int64_t kMostEvents = 2'000'000;  ///< 48 bytes each here, about 115 in the file

  explicit TraceEvents(int64_t most = kMostEvents);
  TraceEvents(const TraceEvents&) = delete;
  TraceEvents& operator=(const TraceEvents&) = delete;
  ~TraceEvents();

  /// Where the coming run's ranges go. It is named by the label that it gives to its sinks.
  RangeSink& AddRun();
  /// The last run is measured again: what it left is forgotten.
  void DropLastRun();
  /// All axes of the last run, shown beside its name.
  void DescribeLastRun(const std::string& axes);

  int64_t events() const;
  int64_t left_out() const;

  /// Events that are still open are not written.
  void Write(std::ostream& out) const;

 private:
  class Run;

  int64_t most_;
  int64_t used_ = 0;  // by all runs, dropped ones not counted
  std::vector<std::unique_ptr<Run>> runs_;
};

}  // namespace kvbench
