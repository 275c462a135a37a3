#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/cpu/thread_pool.h"
#include "workloads/models/model_shape.h"

namespace kvbench {

/// What a kernel needs for so many rows (tokens) of a step.
struct RowRoof {
  int64_t rows = 0;
  double seconds = 0;
};

/// Attention of decodes in one layer, all threads of the pool together, KV from memory:
///   seconds = sequences x KV heads x seconds_per_head + keys x KV heads x seconds_per_key,
/// keys being the sum of the sequences' contexts. It is a line through steps of short and of long
/// contexts.
struct DecodeRoof {
  int32_t block_size = 0;  ///< 0: contiguous; otherwise blocks in random order, as after a long run
  double seconds_per_key = 0;   ///< per (key x KV head)
  double seconds_per_head = 0;  ///< per (sequence x KV head), at least 0
};

/// What this machine's CPU reaches with the kernels of the cpu executor, for one model shape and KV
/// dtype: measured, never from a data sheet. All figures are for all threads of the pool together.
///
/// A step adds up as follows. For each layer: its weights x SecondsAt(dense, rows); hidden size x
/// SecondsAt(elementwise, rows); KV write: dispatch_s + bytes of new KV / kv_write_bytes_per_s;
/// attention: dispatch_s + DecodeRoof for its decodes + query heads x visible keys x
/// SecondsPerVisibleKey for its prompts. Once a step: the LM head's weights x SecondsAt(dense,
/// tokens that generate). Scheduling, cache and embedding come on top.
struct CpuRoofs {
  int64_t threads = 0;
  double read_bytes_per_s = 0;  ///< plain reads of memory
  /// (90th - 10th percentile) / median of the reads: how much the machine was disturbed.
  double read_spread = 0;
  /// Seconds per weight (element of a layer's matrices) for all rows together; a dispatch for each
  /// matrix is in it. 2 x rows / seconds is FLOP/s.
  std::vector<RowRoof> dense;
  /// Seconds of a layer's norms, rotary embedding, activation and residuals per element of the
  /// hidden size, for all rows together, dispatches included; rows as dense layers left them.
  std::vector<RowRoof> elementwise;
  std::vector<DecodeRoof> decode;
  /// `rows` is a prompt's tokens; seconds per (query head x visible key): a prompt of n tokens sees
  /// n (n + 1) / 2 keys, causally.
  std::vector<RowRoof> prefill;
  /// Converting and writing one token for each of many sequences, into memory.
  double kv_write_bytes_per_s = 0;
  /// Calling all threads of the pool and waiting for them, one call right after the other.
  double dispatch_s = 0;
};

struct CpuRoofOptions {
  double seconds = 2.5;           ///< measures until then, at least three rounds
  int64_t working_set_bytes = 0;  ///< of the weights and of the KV; 0: MemoryWorkingSet
  /// Dense layers on the model's own weights where the working set is larger, so that the caches
  /// hold of them what they hold in a run; otherwise on weights that no cache holds.
  bool model_weights = false;
  Dtype dtype = Dtype::kFp32;                  ///< of the weights
  std::vector<int32_t> block_sizes = {0, 16};  ///< an entry of CpuRoofs::decode for each; 0 first
};

/// Measures with the very kernels that the decoder calls, at the model's shapes: rounds in which
/// every quantity has its turn, so that a slow spell of the machine hits all of them, and the
/// median of the rounds. Takes about options.seconds and half a second to fill the memory, about
/// four working sets. Matrices of more than 4 Mi weights are cut to that many outputs, whose panels
/// are read alike; prompts run on as many KV heads as 1,024 floats of a query row have. Throws
/// Error (kInput) for a model or KV dtype that the cpu executor cannot run, std::bad_alloc.
CpuRoofs MeasureCpuRoofs(const ModelShape& model, Dtype kv_dtype, ThreadPool& pool,
                         const CpuRoofOptions& options = {});

/// The median of every figure over measurements of the same kind (before, between and after runs).
/// The spread is the largest of theirs and of that between them, (largest - smallest) / median.
/// Precondition: at least one, all with the same threads and options.
CpuRoofs Combine(std::span<const CpuRoofs> roofs);

/// Seconds of a table whose figures are for all rows together (dense, elementwise): on straight
/// lines between its points, in proportion to the rows after the last. Precondition: rows >= 0; no
/// rows need no time.
double SecondsAt(std::span<const RowRoof> table, double rows);

/// Seconds per (query head x visible key) of prompts, or chunks of them, of so many tokens. A row's
/// cost grows slowly with the prompt's length, so that seconds x tokens lies on straight lines
/// between the points of CpuRoofs::prefill; it stays level before the first, and seconds after the
/// last. Precondition: tokens > 0.
double SecondsPerVisibleKey(std::span<const RowRoof> prefill, double tokens);

}  // namespace kvbench
