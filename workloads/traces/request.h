#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kvbench {

/// One request: when it arrives, how long its prompt is, how many tokens it generates.
struct Request {
  int64_t arrival_ns = 0;           ///< nanoseconds since the trace began, >= 0
  int64_t prompt_tokens = 0;        ///< P, >= 1
  int64_t output_tokens = 0;        ///< O, >= 1
  std::vector<int64_t> prefix_ids;  ///< one id for each prefix block; equal ids mean equal tokens

  int64_t total_tokens() const { return prompt_tokens + output_tokens; }
  bool operator==(const Request&) const = default;
};

/// Requests in arrival order, with where they came from.
struct Trace {
  std::string name;    ///< short: a file's stem, or the generator's description
  std::string source;  ///< a path, or the generator's parameters in words
  std::vector<Request> requests;
  bool has_arrivals = true;  ///< false: a list of lengths, every arrival_ns is 0
  int64_t skipped_rows = 0;  ///< rows left out by the reader (failed requests with 0 tokens)
  std::string request_rate;  ///< requests/s asked for, "inf" for all at once, "" where unknown
  int64_t seed = -1;         ///< the generator's seed, -1 where none was used
};

/// Hexadecimal SHA-256 over one line a request, `arrival_ns prompt output[ id id ...]\n`. [64
/// digits]
std::string TraceDigest(const Trace& trace);

}  // namespace kvbench
