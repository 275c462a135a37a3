#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "workloads/traces/request.h"

namespace kvbench {

/// The digest of a trace whose requests come one by one: SHA-256 over one line a request,
/// `arrival_ns prompt output[ id id ...]\n`.
class TraceDigester {
 public:
  /// Throws Error (kMachine) where OpenSSL has no SHA-256.
  TraceDigester();
  ~TraceDigester();

  void Add(const Request& request);
  /// [64 hexadecimal digits]; nothing may be added afterwards.
  std::string Finish();

 private:
  void Put(int64_t number, char separator);
  void Flush();

  struct Context;
  std::unique_ptr<Context> context_;
  std::string lines_;
};

}  // namespace kvbench
