// Devices, their contexts, and the stack of contexts of each thread.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include "call.hpp"

namespace simulated {

struct Pool;
struct Stream;
struct Context;

struct Device {
  int ordinal = 0;
  std::size_t memory = 0;  // total bytes
  std::size_t used = 0;    // bytes allocated, or reserved by pools
  Context* primary = nullptr;
  CUcontext primary_handle = nullptr;
  unsigned retains = 0;
  unsigned primary_flags = 0;
  std::shared_ptr<Pool> default_pool;
  std::shared_ptr<Pool> current_pool;
};

// Never deleted, since streams that still run refer to it.
struct Context {
  Device* device = nullptr;
  CUcontext handle = nullptr;
  unsigned long long id = 0;
  unsigned flags = 0;
  CUresult broken = CUDA_SUCCESS;  // returned by every call after a sticky error
  std::set<int> peers;             // devices whose memory it may use
  std::set<std::shared_ptr<Stream>> streams;
  std::shared_ptr<Stream> legacy;
  std::map<std::thread::id, std::shared_ptr<Stream>> of_threads;
};

struct Settings {
  int devices = 1;
  int major = 9;
  int minor = 0;
  bool runs_kernels = true;
  bool uses_host_page_tables = false;  // as devices that share the host's memory do
};

const Settings& settings();
bool initialized();
std::vector<Device>& devices();
Device& device_at(CUdevice ordinal);

// A unique value for a handle, which is not an address.
std::uintptr_t new_handle();

// Using a stream or an event that was destroyed is undefined: here it ends the process.
void note_destroyed(const void* handle);
void refuse_destroyed(const void* handle);

// Contexts. These throw the driver's errors for none, for a destroyed one, and after a sticky
// error.
Context& current_context();
void require_some_context();  // any one, even a broken one
Context& context_of(CUcontext handle);
void require_whole(const Context& context);
void break_context(Context& context, CUresult error);
void break_current_context(CUresult error);
std::vector<Context*> all_contexts();

}  // namespace simulated
