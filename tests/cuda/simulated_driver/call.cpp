#include "call.hpp"

#include <pthread.h>

#include <cctype>
#include <set>
#include <utility>

#include "context.hpp"
#include "stream.hpp"

namespace simulated {
namespace {

thread_local Counter* current_counter = nullptr;
thread_local CUstreamCaptureMode capture_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
bool forked = false;
bool somebody_captures = false;
std::string unsafe_call;  // the first one meanwhile

// Calls that the driver refuses in a thread of the global mode while another thread captures in
// it. The manual has examples only: what allocates, frees, loads or waits outside of streams.
bool is_unsafe(const std::string& name) {
  static const std::set<std::string> names{
      "cuMemAlloc",          "cuMemFree",       "cuMemHostAlloc",   "cuMemFreeHost",
      "cuMemHostRegister",   "cuMemcpy",        "cuEventQuery",     "cuEventSynchronize",
      "cuStreamSynchronize", "cuStreamQuery",   "cuCtxSynchronize", "cuModuleLoadDataEx",
      "cuMemPoolCreate",     "cuMemPoolTrimTo",
  };
  return names.count(name) == 1;
}

bool needs_nothing(const std::string& name) {
  return name == "cuInit" || name == "cuDriverGetVersion" || name.rfind("cuGet", 0) == 0;
}

}  // namespace

// Never destroyed: streams may still run when the process ends.
std::mutex& mutex() {
  static auto& only = *new std::mutex;
  return only;
}

std::map<std::string, Counter>& counters() {
  static auto& all = *new std::map<std::string, Counter>;
  return all;
}

Counter& counter_of(const std::string& name) {
  Counter& counter = counters()[name];
  counter.name = name;
  return counter;
}

std::map<std::string, std::map<int, Function>>& functions() {
  static auto& all = *new std::map<std::string, std::map<int, Function>>;
  return all;
}

std::string without_version(std::string name) {
  for (const char* ending : {"_ptsz", "_ptds"}) {
    if (name.size() > 5 && name.compare(name.size() - 5, 5, ending) == 0) {
      name.resize(name.size() - 5);
    }
  }
  const std::size_t size = name.size();
  const bool versioned = size > 3 && name[size - 3] == '_' && name[size - 2] == 'v' &&
                         std::isdigit(static_cast<unsigned char>(name[size - 1]));
  return versioned ? name.substr(0, size - 3) : name;
}

CUresult Counter::next(bool& sticky) {
  ++calls;
  if (fault.times <= 0 || fault.after-- > 0) return CUDA_SUCCESS;
  fault.after = 0;
  --fault.times;
  sticky = fault.sticky;
  return fault.error;
}

void waited_for_device() {
  if (current_counter) ++current_counter->device_wide;
}

void copied_pageable() {
  if (current_counter) ++current_counter->pageable;
}

Call::Call(Counter& counter) : outer_(current_counter) {
  // In a forked process, locks may be held by threads that do not exist there.
  static const int watched = pthread_atfork(nullptr, nullptr, [] { forked = true; });
  (void)watched;
  if (forked) {
    refused_ = CUDA_ERROR_NOT_INITIALIZED;
    return;
  }
  if (in_stream() && !needs_nothing(counter.name)) {
    refused_ = CUDA_ERROR_NOT_PERMITTED;
    return;
  }
  lock_ = std::unique_lock<std::mutex>(mutex());
  current_counter = &counter;
  bool sticky = false;
  refused_ = counter.next(sticky);
  if (sticky) break_current_context(refused_);
  if (refused_ == CUDA_SUCCESS && !initialized() && !needs_nothing(counter.name)) {
    refused_ = CUDA_ERROR_NOT_INITIALIZED;
  }
  if (refused_ == CUDA_SUCCESS && somebody_captures &&
      capture_mode == CU_STREAM_CAPTURE_MODE_GLOBAL && is_unsafe(counter.name)) {
    if (unsafe_call.empty()) unsafe_call = counter.name;
    refused_ = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  }
}

void capture(bool begins) {
  somebody_captures = begins;
  if (begins) unsafe_call.clear();
}

const std::string& spoiled_by() { return unsafe_call; }

Call::~Call() { current_counter = outer_; }

}  // namespace simulated

using namespace simulated;

DRIVER(cuThreadExchangeStreamCaptureMode, CUstreamCaptureMode* mode) {
  require(mode, CUDA_ERROR_INVALID_VALUE);
  std::swap(*mode, capture_mode);
}

// The only name that programs look up directly.
extern "C" __attribute__((visibility("default"))) CUresult CUDAAPI
cuGetProcAddress_v2(const char* symbol, void** address, int version, cuuint64_t flags,
                    CUdriverProcAddressQueryResult* status) {
  if (!symbol || !address) return CUDA_ERROR_INVALID_VALUE;
  *address = nullptr;
  if (status) *status = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  const std::string name = symbol;
  if (without_version(name) == "cuGetProcAddress") {
    *address = reinterpret_cast<void*>(&cuGetProcAddress_v2);
  } else {
    const auto found = functions().find(without_version(name));
    if (found == functions().end()) return CUDA_ERROR_NOT_FOUND;
    if (status) *status = CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT;
    auto later = found->second.upper_bound(version);
    if (later == found->second.begin()) return CUDA_ERROR_NOT_FOUND;
    const Function& function = std::prev(later)->second;
    const bool asks = name.size() > 5 && (name.compare(name.size() - 5, 5, "_ptsz") == 0 ||
                                          name.compare(name.size() - 5, 5, "_ptds") == 0);
    const bool own = asks || (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) != 0;
    *address = own ? function.per_thread_address : function.address;
  }
  if (status) *status = CU_GET_PROC_ADDRESS_SUCCESS;
  return CUDA_SUCCESS;
}
