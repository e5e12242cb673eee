// Control by tests: faults, counters, live resources.
#include <cstring>

#include "event.hpp"
#include "memory.hpp"
#include "module.hpp"
#include "stream.hpp"

#define CONTROL extern "C" __attribute__((visibility("default")))

namespace simulated {
namespace {

struct ErrorName {
  CUresult code;
  const char* name;
};

constexpr ErrorName kErrorNames[] = {
#define SIMULATED_ERROR(name) {name, #name},
#include "error_names.inc"
#undef SIMULATED_ERROR
};

const char* name_of(CUresult code) {
  for (const ErrorName& known : kErrorNames) {
    if (known.code == code) return known.name;
  }
  return nullptr;
}

void add(std::string& text, const char* name, unsigned long long value) {
  if (text.size() > 1) text += ", ";
  text += '"' + std::string(name) + "\": " + std::to_string(value);
}

const char* kept(std::string text) {
  static thread_local std::string last;
  last = std::move(text);
  return last.c_str();
}

}  // namespace
}  // namespace simulated

using namespace simulated;

DRIVER(cuGetErrorName, CUresult error, const char** name) {
  require(name, CUDA_ERROR_INVALID_VALUE);
  *name = name_of(error);
  require(*name, CUDA_ERROR_INVALID_VALUE);
}

DRIVER(cuGetErrorString, CUresult error, const char** text) { body_of_cuGetErrorName(error, text); }

// All of these acquire the lock; JSON is valid until the next call of the thread.

CONTROL int simulated_fail(const char* function, int error, long long after, long long times,
                           int sticky) {
  const std::lock_guard<std::mutex> lock(mutex());
  const bool known = std::strcmp(function, "kernel") == 0 || functions().count(function) == 1;
  if (!known || !name_of(static_cast<CUresult>(error))) return 0;
  counter_of(function).fault = {static_cast<CUresult>(error), after, times, sticky != 0};
  return 1;
}

CONTROL int simulated_error(const char* name) {
  for (const ErrorName& known : kErrorNames) {
    if (std::strcmp(known.name, name) == 0) return known.code;
  }
  return -1;
}

// Calls, or synchronizing calls, or copies of pageable memory.
CONTROL const char* simulated_counts(int which) {
  const std::lock_guard<std::mutex> lock(mutex());
  std::string text = "{";
  for (const auto& [name, counter] : counters()) {
    const std::uint64_t each[] = {counter.calls, counter.device_wide, counter.pageable};
    const auto count = each[which];
    if (count > 0) add(text, name.c_str(), count);
  }
  return kept(text + "}");
}

CONTROL const char* simulated_functions() {
  const std::lock_guard<std::mutex> lock(mutex());
  std::string text = "{";
  for (const auto& [name, versions] : functions()) add(text, name.c_str(), versions.size());
  return kept(text + "}");
}

CONTROL const char* simulated_live() {
  const std::lock_guard<std::mutex> lock(mutex());
  unsigned long long allocated[2] = {0, 0}, host[2] = {0, 0}, registered = 0, retains = 0;
  for (const auto& [begin, allocation] : allocations()) {
    if (allocation.returned) continue;
    if (allocation.place == Place::registered) {
      ++registered;
      continue;
    }
    auto& sums = allocation.on_device() ? allocated : host;
    sums[0] += 1;
    sums[1] += allocation.size;
  }
  for (const Device& device : devices()) retains += device.retains;
  std::string text = "{";
  add(text, "allocations", allocated[0]);
  add(text, "bytes", allocated[1]);
  add(text, "host_allocations", host[0]);
  add(text, "host_bytes", host[1]);
  add(text, "registered", registered);
  add(text, "streams", number_of_streams());
  add(text, "events", number_of_events());
  add(text, "modules", number_of_modules());
  add(text, "pools", number_of_pools());
  add(text, "primary_context_retains", retains);
  add(text, "contexts", all_contexts().size());
  return kept(text + "}");
}

CONTROL void simulated_set_delay(double seconds) {
  const std::lock_guard<std::mutex> lock(mutex());
  set_delay(seconds);
}

CONTROL int simulated_set_stream_delay(void* handle, double seconds) {
  const std::lock_guard<std::mutex> lock(mutex());
  try {
    stream_without_context(static_cast<CUstream>(handle))->delay = seconds;
  } catch (const Failure& failure) {
    return failure.code;
  }
  return CUDA_SUCCESS;
}

CONTROL int simulated_hold(void* handle, int held) {
  const std::lock_guard<std::mutex> lock(mutex());
  try {
    hold(*stream_without_context(static_cast<CUstream>(handle)), held != 0);
  } catch (const Failure& failure) {
    return failure.code;
  }
  return CUDA_SUCCESS;
}

CONTROL const char* simulated_capture(int begins) {
  const std::lock_guard<std::mutex> lock(mutex());
  capture(begins != 0);
  return kept(spoiled_by());
}

CONTROL int simulated_set_memory_limit(int device, unsigned long long bytes) {
  const std::lock_guard<std::mutex> lock(mutex());
  if (device < 0 || device >= settings().devices) return CUDA_ERROR_INVALID_DEVICE;
  devices()[device].memory = bytes;
  return CUDA_SUCCESS;
}

CONTROL void simulated_reset() {
  const std::lock_guard<std::mutex> lock(mutex());
  for (auto& [name, counter] : counters()) {
    counter.calls = counter.device_wide = counter.pageable = 0;
    counter.fault = {};
  }
  set_delay(0);
  capture(false);
  hold_none();
}
