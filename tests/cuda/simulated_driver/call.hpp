// Framework of the driver's functions: counting, locking, and failures on demand.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <new>
#include <string>
#include <type_traits>

namespace simulated {

struct Failure {
  CUresult code;
};

[[noreturn]] inline void fail(CUresult code) { throw Failure{code}; }

inline void require(bool condition, CUresult code) {
  if (!condition) fail(code);
}

// Guards the state of the simulated driver. Functions hold it; work in streams does not.
std::mutex& mutex();

struct Fault {
  CUresult error = CUDA_SUCCESS;
  long long after = 0;
  long long times = 0;
  bool sticky = false;
};

// Data of all versions of a function.
struct Counter {
  std::string name;
  std::uint64_t calls = 0;
  std::uint64_t device_wide = 0;
  std::uint64_t pageable = 0;
  Fault fault;

  // The error that this call has to return, or CUDA_SUCCESS.
  CUresult next(bool& sticky);
};

std::map<std::string, Counter>& counters();
Counter& counter_of(const std::string& name);

// The current function synchronized with a device, or would with a real one.
void waited_for_device();

// It was not asynchronous: the host memory is pageable.
void copied_pageable();

// Whether some other thread captures a graph in the global mode, and the first call that this does
// not allow, or an empty name.
void capture(bool begins);
const std::string& spoiled_by();

struct Function {
  int version;
  void* address;
  void* per_thread_address;
};

// By name without version, then by the version of CUDA that has it.
std::map<std::string, std::map<int, Function>>& functions();
std::string without_version(std::string name);

class Call {
 public:
  explicit Call(Counter& counter);
  ~Call();
  Call(const Call&) = delete;
  CUresult refused() const { return refused_; }

 private:
  std::unique_lock<std::mutex> lock_;
  Counter* outer_;
  CUresult refused_ = CUDA_SUCCESS;
};

// With per-thread default streams, no stream means that of the thread.
inline CUstream per_thread(CUstream stream) { return stream ? stream : CU_STREAM_PER_THREAD; }
inline const CUlaunchConfig* per_thread(const CUlaunchConfig* config) {
  static thread_local CUlaunchConfig own;
  if (!config) return nullptr;
  own = *config;
  own.hStream = per_thread(own.hStream);
  return &own;
}
template <class T>
T per_thread(T value) {
  return value;
}

template <auto body, class Signature = decltype(body)>
struct Entry;

template <auto body, class... Parameters>
struct Entry<body, void (*)(Parameters...)> {
  static inline Counter* counter = nullptr;

  static CUresult CUDAAPI called(Parameters... parameters) {
    Call call(*counter);
    if (call.refused() != CUDA_SUCCESS) return call.refused();
    try {
      body(parameters...);
    } catch (const Failure& failure) {
      return failure.code;
    } catch (const std::bad_alloc&) {
      return CUDA_ERROR_OUT_OF_MEMORY;
    }
    return CUDA_SUCCESS;
  }

  static CUresult CUDAAPI called_per_thread(Parameters... parameters) {
    return called(per_thread(parameters)...);
  }

  static bool add(const char* name, int version) {
    counter = &counter_of(without_version(name));
    functions()[without_version(name)][version] = Function{
        version, reinterpret_cast<void*>(&called), reinterpret_cast<void*>(&called_per_thread)};
    return true;
  }
};

}  // namespace simulated

#define SIMULATED_JOIN_(a, b) a##b
#define SIMULATED_JOIN(a, b) SIMULATED_JOIN_(a, b)
#define SIMULATED_TEXT_(a) #a
#define SIMULATED_TEXT(a) SIMULATED_TEXT_(a)

// DRIVER(cuInit, unsigned flags) { ... }: the body returns nothing and throws Failure. cuda.h
// declares the same function, so the compiler checks the parameters.
#define DRIVER(name, ...) DRIVER_SINCE(0, name, __VA_ARGS__)
#define DRIVER_SINCE(version, name, ...)                                                      \
  static void SIMULATED_JOIN(body_of_, name)(__VA_ARGS__);                                    \
  static_assert(                                                                              \
      std::is_same_v<decltype(&::simulated::Entry<SIMULATED_JOIN(body_of_, name)>::called),   \
                     decltype(&name)>);                                                       \
  [[maybe_unused]] static const bool SIMULATED_JOIN(added_, name) =                           \
      ::simulated::Entry<SIMULATED_JOIN(body_of_, name)>::add(SIMULATED_TEXT(name), version); \
  static void SIMULATED_JOIN(body_of_, name)(__VA_ARGS__)
