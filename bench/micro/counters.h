#pragma once

#include <benchmark/benchmark.h>

#include "bench/micro/workbench.h"

namespace kvbench::micro {

// Names and counters are stable, so that `--benchmark_format=json` can be compared between commits.
// A name says what ran and depends on the machine in nothing but the number of threads, which are 1
// and all cores. Sizes in a name are tokens, rows, bytes (block_copy) or blocks (bookkeeping). Time
// is wall time. Google Benchmark appends how it measures: "/manual_time", "/real_time",
// "/iterations:N".
//
//   decode/LAYOUT/TYPE/kv_heads:/group:/head_dim:/context:/batch:/threads:
//     kv_bytes_per_s     useful bytes of K and V (AttentionKvBytes), per second
//     tokens_per_s       sequences of the batch, per second: one layer's attention alone
//     roof_bytes_per_s   read roof of as many threads, measured between the iterations
//     roof_share         kv_bytes_per_s / roof_bytes_per_s
//   prefill/LAYOUT/TYPE/kv_heads:/group:/head_dim:/context:/prompt:/batch:/threads:
//     (the prompt's tokens are the newest of the context; fewer than those: a chunk of a prompt)
//     flops_per_s        4 x head dim operations for each query head and key that it sees, causally
//     tokens_per_s       prompt tokens
//     fma_flops_per_s    fp32 fused multiply-add peak, measured between the iterations
//     fma_share          flops_per_s / fma_flops_per_s
//   kv_write/LAYOUT/TYPE/kv_heads:/head_dim:/tokens:/batch:/threads:
//     kv_bytes_per_s, tokens_per_s, roof_bytes_per_s, roof_share: of the bytes written
//   block_copy/bytes:/threads:
//     copied_bytes_per_s (read and written once each), roof_bytes_per_s, roof_share
//   plan/prompts:/batch:/group:/threads:
//     sequences_per_s
//   plan/device/(contiguous|paged/block:N)/batch:   the GPU's work list of a step of decodes, on
//   the
//     ns_per_plan, sequences_per_s                  host: contexts up to 2,048, 8 KV heads
//   dense/TYPE/in:/out:/rows:/threads:
//     weight_bytes_per_s, flops_per_s, roof_bytes_per_s, roof_share: of the weights' bytes
//     (TYPE onednn: the library's fp32 layer, where the build found it)
//   bookkeeping/append_all/DESIGN/blocks:/sequences:   a running mix gains a token a step
//   bookkeeping/append_one/DESIGN/blocks:/sequences:   sequence by sequence, and reads its table
//     ns_per_token, sequences
//   bookkeeping/admit_release/DESIGN/blocks:/sequences:
//     ns_per_request (a request leaves and one of 500 tokens comes), sequences
//     (256 sequences at most, the cap of a run; or all that the pool holds. The counter says how
//     many there were)
//   read_roof/threads:   roof_bytes_per_s
//   fma_peak/threads:    fma_flops_per_s
//   modelled_run/DESIGN/(equal_steps|step_by_step)
//     requests_per_s, simulated_s_per_s
//
// LAYOUT is contiguous-padded, contiguous-unpadded (head strides: kernels/kv_layout.h),
// paged-identity/block:N, paged-shuffled/block:N or paged-aged/block:N (block tables as a
// PagedCache has them after many admits and releases). TYPE is the KV or weight type.
//
// Google Benchmark's own library says in the JSON that it is a debug build and warns of it: that is
// how Debian packages it, and only its own bookkeeping, outside the clock, is slower for it.

/// A counter per second of wall time. `amount` is what one iteration does.
inline benchmark::Counter PerSecond(double amount,
                                    benchmark::Counter::OneK base = benchmark::Counter::kIs1000) {
  return benchmark::Counter(amount, benchmark::Counter::kIsIterationInvariantRate, base);
}

/// Registration, one function a file; flags are read after it. `bench` must outlive the run.
void RegisterAttention(Workbench& bench);
void RegisterBookkeeping();
void RegisterDense(Workbench& bench);
void RegisterDevicePlan();
void RegisterEngine();
void RegisterKv(Workbench& bench);
void RegisterOneDnn(Workbench& bench);  // where KVBENCH_HAS_ONEDNN is defined
void RegisterRoofs(Workbench& bench);

}  // namespace kvbench::micro
