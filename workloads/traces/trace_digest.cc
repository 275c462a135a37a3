#include "workloads/traces/trace_digest.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <charconv>

#include "base/error.h"

namespace kvbench {
namespace {

constexpr size_t kFlushBytes = size_t{1} << 15;

void Check(int result) {
  if (result != 1) {
    throw Error("OpenSSL cannot compute a SHA-256 digest; its default provider seems to be missing",
                Error::Kind::kMachine);
  }
}

}  // namespace

struct TraceDigester::Context {
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> evp{EVP_MD_CTX_new(), &EVP_MD_CTX_free};
};

TraceDigester::TraceDigester() : context_(std::make_unique<Context>()) {
  Check(context_->evp ? 1 : 0);
  Check(EVP_DigestInit_ex(context_->evp.get(), EVP_sha256(), nullptr));
  lines_.reserve(kFlushBytes + 256);
}

TraceDigester::~TraceDigester() = default;

void TraceDigester::Put(int64_t number, char separator) {
  char digits[24];
  const auto end = std::to_chars(digits, digits + sizeof(digits), number);
  lines_.append(digits, end.ptr);
  lines_.push_back(separator);
}

void TraceDigester::Add(const Request& request) {
  Put(request.arrival_ns, ' ');
  Put(request.prompt_tokens, ' ');
  Put(request.output_tokens, request.prefix_ids.empty() ? '\n' : ' ');
  for (size_t i = 0; i < request.prefix_ids.size(); ++i) {
    Put(request.prefix_ids[i], i + 1 == request.prefix_ids.size() ? '\n' : ' ');
  }
  if (lines_.size() >= kFlushBytes) {
    Flush();
  }
}

void TraceDigester::Flush() {
  Check(EVP_DigestUpdate(context_->evp.get(), lines_.data(), lines_.size()));
  lines_.clear();
}

std::string TraceDigester::Finish() {
  Flush();
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  Check(EVP_DigestFinal_ex(context_->evp.get(), digest, &size));
  std::string hex;
  for (unsigned int i = 0; i < size; ++i) {
    hex += fmt::format("{:02x}", digest[i]);
  }
  return hex;
}

std::string TraceDigest(const Trace& trace) {
  TraceDigester digester;
  for (const Request& request : trace.requests) {
    digester.Add(request);
  }
  return digester.Finish();
}

}  // namespace kvbench
