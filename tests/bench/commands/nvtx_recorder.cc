// A small NVTX tool: NVTX loads it where NVTX_INJECTION64_PATH names it, and it writes what the
// program says to the file that KVBENCH_NVTX_LOG names, one call a line:
//   domain DOMAIN | category DOMAIN ID NAME | string DOMAIN NAME | mark DOMAIN TEXT
//   push DOMAIN CATEGORY PAYLOAD NAME | pop DOMAIN | destroy DOMAIN
// DOMAIN is a number from 1. PAYLOAD is "none" or an int64; NAME is "?" unless registered.
#define NVTX_NO_IMPL  // a tool: types alone
#include <nvtx3/nvToolsExt.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace {

std::mutex mutex;
std::FILE* log_file = nullptr;
std::vector<std::unique_ptr<std::string>> strings;  // a handle points to one; freed at the end
std::vector<std::unique_ptr<int>> domains;          // a handle points to its number

int NumberOf(nvtxDomainHandle_t domain) { return *reinterpret_cast<int*>(domain); }

nvtxDomainHandle_t NVTX_API CreateDomain(const char* name) {
  const std::lock_guard<std::mutex> lock(mutex);
  domains.push_back(std::make_unique<int>(static_cast<int>(domains.size()) + 1));
  std::fprintf(log_file, "domain %s\n", name);
  return reinterpret_cast<nvtxDomainHandle_t>(domains.back().get());
}

void NVTX_API DestroyDomain(nvtxDomainHandle_t domain) {
  const std::lock_guard<std::mutex> lock(mutex);
  std::fprintf(log_file, "destroy %d\n", NumberOf(domain));
  std::fflush(log_file);
}

void NVTX_API NameCategory(nvtxDomainHandle_t domain, uint32_t category, const char* name) {
  const std::lock_guard<std::mutex> lock(mutex);
  std::fprintf(log_file, "category %d %u %s\n", NumberOf(domain), category, name);
}

nvtxStringHandle_t NVTX_API RegisterString(nvtxDomainHandle_t domain, const char* text) {
  const std::lock_guard<std::mutex> lock(mutex);
  strings.push_back(std::make_unique<std::string>(text));
  std::fprintf(log_file, "string %d %s\n", NumberOf(domain), text);
  return reinterpret_cast<nvtxStringHandle_t>(strings.back().get());
}

int NVTX_API Push(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) {
  const std::lock_guard<std::mutex> lock(mutex);
  const bool is_int64 = event->payloadType == NVTX_PAYLOAD_TYPE_INT64;
  const bool registered = event->messageType == NVTX_MESSAGE_TYPE_REGISTERED;
  std::fprintf(
      log_file, "push %d %u %s %s\n", NumberOf(domain), event->category,
      is_int64 ? std::to_string(event->payload.llValue).c_str() : "none",
      registered ? reinterpret_cast<std::string*>(event->message.registered)->c_str() : "?");
  return 0;
}

int NVTX_API Pop(nvtxDomainHandle_t domain) {
  const std::lock_guard<std::mutex> lock(mutex);
  std::fprintf(log_file, "pop %d\n", NumberOf(domain));
  return 0;
}

void NVTX_API Mark(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) {
  const std::lock_guard<std::mutex> lock(mutex);
  std::fprintf(log_file, "mark %d %s\n", NumberOf(domain),
               event->messageType == NVTX_MESSAGE_TYPE_ASCII ? event->message.ascii : "?");
}

template <typename Function>
void Install(NvtxFunctionTable table, unsigned int size, NvtxCallbackIdCore2 id,
             Function* function) {
  if (static_cast<unsigned int>(id) < size && table[id] != nullptr) {
    *table[id] = reinterpret_cast<NvtxFunctionPointer>(function);
  }
}

}  // namespace

/// NVTX calls it once in a process, before anything else. 0: this tool does not attach.
extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtx2(
    NvtxGetExportTableFunc_t get_export_table) {
  const char* const path = std::getenv("KVBENCH_NVTX_LOG");
  const auto* const callbacks =
      static_cast<const NvtxExportTableCallbacks*>(get_export_table(NVTX_ETID_CALLBACKS));
  NvtxFunctionTable table = nullptr;
  unsigned int size = 0;
  if (path == nullptr || callbacks == nullptr ||
      callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &size) == 0) {
    return 0;
  }
  log_file = std::fopen(path, "w");
  if (log_file == nullptr) {
    return 0;
  }
  Install(table, size, NVTX_CBID_CORE2_DomainCreateA, &CreateDomain);
  Install(table, size, NVTX_CBID_CORE2_DomainDestroy, &DestroyDomain);
  Install(table, size, NVTX_CBID_CORE2_DomainNameCategoryA, &NameCategory);
  Install(table, size, NVTX_CBID_CORE2_DomainRegisterStringA, &RegisterString);
  Install(table, size, NVTX_CBID_CORE2_DomainRangePushEx, &Push);
  Install(table, size, NVTX_CBID_CORE2_DomainRangePop, &Pop);
  Install(table, size, NVTX_CBID_CORE2_DomainMarkEx, &Mark);
  return 1;
}
