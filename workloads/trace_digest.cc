#include <fmt/format.h>
#include <openssl/evp.h>

#include <iterator>
#include <memory>

#include "workloads/error.h"
#include "workloads/request.h"

namespace kvbench {
namespace {

void Check(int result) {
  if (result != 1) {
    throw Error("OpenSSL cannot compute a SHA-256 digest; its default provider seems to be missing",
                Error::Kind::kMachine);
  }
}

}  // namespace

std::string TraceDigest(const Trace& trace) {
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(),
                                                                        &EVP_MD_CTX_free);
  Check(context ? 1 : 0);
  Check(EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr));
  fmt::memory_buffer line;
  for (const Request& request : trace.requests) {
    line.clear();
    const auto end = std::back_inserter(line);
    fmt::format_to(end, "{} {} {}", request.arrival_ns, request.prompt_tokens,
                   request.output_tokens);
    for (const int64_t id : request.prefix_ids) {
      fmt::format_to(end, " {}", id);
    }
    line.push_back('\n');
    Check(EVP_DigestUpdate(context.get(), line.data(), line.size()));
  }
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  Check(EVP_DigestFinal_ex(context.get(), digest, &size));
  std::string hex;
  for (unsigned int i = 0; i < size; ++i) {
    hex += fmt::format("{:02x}", digest[i]);
  }
  return hex;
}

}  // namespace kvbench
