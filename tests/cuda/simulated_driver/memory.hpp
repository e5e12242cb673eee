// All allocations: on devices, in pools, and pinned host memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "context.hpp"
#include "kernel.hpp"
#include "stream.hpp"

namespace simulated {

enum class Place { device, pool, host, registered };

struct Allocation {
  std::uintptr_t begin = 0;
  std::size_t size = 0;
  Place place = Place::device;
  Context* context = nullptr;
  int device = 0;
  std::shared_ptr<Pool> pool;
  unsigned flags = 0;
  unsigned long long id = 0;
  bool returned = false;  // freed in stream order

  bool on_device() const { return place == Place::device || place == Place::pool; }
  std::uintptr_t end() const { return begin + size; }
};

// By address.
std::map<std::uintptr_t, Allocation>& allocations();

// The allocation that an address is in or at the end of, or none.
Allocation* allocation_at(std::uintptr_t address);

// The same for programs: not freed memory, and all bytes or an error.
Allocation* usable(std::uintptr_t address, std::size_t bytes);

// May work of this context use the memory?
bool reachable(const Allocation& allocation, const Context& context);

// Bytes filled with a pattern of uninitialized memory.
Allocation& allocate(Context& context, std::size_t bytes, Place place);

// Fills memory so that later reads are detected, and frees it.
void release(std::uintptr_t begin);
void fill_new(void* memory, std::size_t bytes);
void forget_memory(Context& context);

// The device's bytes: throws CUDA_ERROR_OUT_OF_MEMORY.
void charge(Device& device, std::size_t bytes);

// Prints misuse of the program that has no error code of the driver.
void report(const char* text, const void* address);

std::shared_ptr<Pool> make_pool(int device);
bool pool_reachable(const Pool& pool, int device);
void leave_pool(const Allocation& allocation);
std::size_t number_of_pools();

// Pools release unused memory above their thresholds whenever the host synchronizes.
void trim_pools();

}  // namespace simulated
