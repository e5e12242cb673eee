#include "memory.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>

namespace simulated {
namespace {

constexpr int kNewByte = 0xcd;
constexpr int kFreedByte = 0xdd;
constexpr int kGuardByte = 0xfd;
constexpr std::size_t kAlignment = 256;

// AddressSanitizer has its own guards and quarantine.
const std::size_t kGuard = sanitized() ? 0 : 64;
const std::size_t kKept = sanitized() ? 0 : std::size_t{64} << 20;

void check_guard(const Allocation& allocation) {
  const auto* guard = reinterpret_cast<const unsigned char*>(allocation.end());
  for (std::size_t index = 0; index < kGuard; ++index) {
    if (guard[index] == kGuardByte) continue;
    std::fprintf(stderr, "simulated driver: wrote byte %zu behind an allocation of %zu bytes\n",
                 index, allocation.size);
    std::abort();
  }
}

// Freed memory is kept for a while, so that reading it returns the pattern.
void free_memory(void* memory, std::size_t bytes) {
  static auto& kept = *new std::deque<std::pair<void*, std::size_t>>;
  static std::size_t kept_bytes = 0;
  kept.push_back({memory, bytes});
  kept_bytes += bytes;
  while (kept_bytes > kKept || (kKept == 0 && !kept.empty())) {
    std::free(kept.front().first);
    kept_bytes -= kept.front().second;
    kept.pop_front();
  }
}

}  // namespace

std::map<std::uintptr_t, Allocation>& allocations() {
  static auto& all = *new std::map<std::uintptr_t, Allocation>;
  return all;
}

Allocation* allocation_at(std::uintptr_t address) {
  auto later = allocations().upper_bound(address);
  if (later == allocations().begin()) return nullptr;
  Allocation& found = std::prev(later)->second;
  return address <= found.end() ? &found : nullptr;
}

Allocation* usable(std::uintptr_t address, std::size_t bytes) {
  Allocation* found = allocation_at(address);
  if (!found || (address == found->end() && found->size > 0)) return nullptr;
  require(!found->returned && bytes <= found->end() - address, CUDA_ERROR_INVALID_VALUE);
  return found;
}

bool reachable(const Allocation& allocation, const Context& context) {
  const int device = context.device->ordinal;
  if (!allocation.on_device() || allocation.device == device) return true;
  return allocation.pool ? pool_reachable(*allocation.pool, device)
                         : context.peers.count(allocation.device) != 0;
}

void report(const char* text, const void* address) {
  std::fprintf(stderr, "simulated driver: %s (at %p)\n", text, address);
}

void fill_new(void* memory, std::size_t bytes) { std::memset(memory, kNewByte, bytes); }

Allocation& allocate(Context& context, std::size_t bytes, Place place) {
  if (place == Place::device) charge(*context.device, bytes);
  void* memory = nullptr;
  if (posix_memalign(&memory, kAlignment, bytes + kGuard) != 0) {
    if (place == Place::device) context.device->used -= bytes;
    fail(CUDA_ERROR_OUT_OF_MEMORY);
  }
  // Memory of a pool is initialized in stream order.
  if (place != Place::pool) fill_new(memory, bytes);
  std::memset(static_cast<char*>(memory) + bytes, kGuardByte, kGuard);
  Allocation made;
  made.begin = reinterpret_cast<std::uintptr_t>(memory);
  made.size = bytes;
  made.place = place;
  made.context = &context;
  made.device = context.device->ordinal;
  made.id = new_handle();
  return allocations()[made.begin] = made;
}

void release(std::uintptr_t begin) {
  const auto found = allocations().find(begin);
  const Allocation allocation = found->second;
  allocations().erase(found);
  if (allocation.place == Place::registered) return;
  if (allocation.place == Place::device) devices()[allocation.device].used -= allocation.size;
  if (allocation.place == Place::pool) leave_pool(allocation);
  check_guard(allocation);
  auto* memory = reinterpret_cast<void*>(begin);
  std::memset(memory, kFreedByte, allocation.size);
  free_memory(memory, allocation.size);
}

void forget_memory(Context& context) {
  std::vector<std::uintptr_t> gone;
  for (const auto& [begin, allocation] : allocations()) {
    if (allocation.context == &context) gone.push_back(begin);
  }
  for (const std::uintptr_t begin : gone) release(begin);
}

void charge(Device& device, std::size_t bytes) {
  require(bytes <= device.memory && device.used <= device.memory - bytes, CUDA_ERROR_OUT_OF_MEMORY);
  device.used += bytes;
}

}  // namespace simulated

using namespace simulated;

DRIVER(cuMemGetInfo, size_t* available, size_t* total) {
  const Device& device = *current_context().device;
  if (available) *available = device.memory - std::min(device.memory, device.used);
  if (total) *total = device.memory;
}

DRIVER(cuMemAlloc, CUdeviceptr* pointer, size_t bytes) {
  Context& context = current_context();
  require(pointer && bytes > 0, CUDA_ERROR_INVALID_VALUE);
  waited_for_device();  // the driver may synchronize, and often does
  *pointer = allocate(context, bytes, Place::device).begin;
}

DRIVER(cuMemFree, CUdeviceptr pointer) {
  Context& context = current_context();
  if (!pointer) return;
  const Allocation* found = usable(pointer, 0);
  require(found && found->begin == pointer && found->on_device(), CUDA_ERROR_INVALID_VALUE);
  wait_for_context(*found->context);
  require_whole(context);
  require(usable(pointer, 0), CUDA_ERROR_INVALID_VALUE);
  release(pointer);
}

DRIVER(cuMemGetAddressRange, CUdeviceptr* begin, size_t* bytes, CUdeviceptr pointer) {
  current_context();
  const Allocation* found = usable(pointer, 0);
  require(found, CUDA_ERROR_NOT_FOUND);
  if (begin) *begin = found->begin;
  if (bytes) *bytes = found->size;
}

DRIVER(cuMemHostAlloc, void** pointer, size_t bytes, unsigned flags) {
  Context& context = current_context();
  require(pointer && bytes > 0 && flags <= 7, CUDA_ERROR_INVALID_VALUE);
  waited_for_device();
  Allocation& made = allocate(context, bytes, Place::host);
  made.flags = flags;
  *pointer = reinterpret_cast<void*>(made.begin);
}

DRIVER(cuMemAllocHost, void** pointer, size_t bytes) { body_of_cuMemHostAlloc(pointer, bytes, 0); }

DRIVER(cuMemFreeHost, void* pointer) {
  Context& context = current_context();
  const auto begin = reinterpret_cast<std::uintptr_t>(pointer);
  const Allocation* found = usable(begin, 0);
  require(found && found->begin == begin && found->place == Place::host, CUDA_ERROR_INVALID_VALUE);
  wait_for_context(*found->context);
  require_whole(context);
  release(begin);
}

DRIVER(cuMemHostRegister, void* pointer, size_t bytes, unsigned flags) {
  Context& context = current_context();
  const auto begin = reinterpret_cast<std::uintptr_t>(pointer);
  require(pointer && bytes > 0 && flags <= 15, CUDA_ERROR_INVALID_VALUE);
  waited_for_device();
  const auto later = allocations().lower_bound(begin + bytes);
  if (later != allocations().begin()) {
    const Allocation& before = std::prev(later)->second;
    require(before.end() <= begin, CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
  }
  Allocation made;
  made.begin = begin;
  made.size = bytes;
  made.place = Place::registered;
  made.context = &context;
  made.device = context.device->ordinal;
  made.flags = flags;
  made.id = new_handle();
  allocations()[begin] = made;
}

DRIVER(cuMemHostUnregister, void* pointer) {
  Context& context = current_context();
  const auto begin = reinterpret_cast<std::uintptr_t>(pointer);
  const Allocation* found = usable(begin, 0);
  require(found && found->begin == begin && found->place == Place::registered,
          CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
  wait_for_context(*found->context);
  require_whole(context);
  release(begin);
}

DRIVER(cuMemHostGetDevicePointer, CUdeviceptr* pointer, void* host, unsigned flags) {
  current_context();
  const auto address = reinterpret_cast<std::uintptr_t>(host);
  const Allocation* found = usable(address, 0);
  require(pointer && flags == 0 && found && !found->on_device(), CUDA_ERROR_INVALID_VALUE);
  *pointer = address;
}

DRIVER(cuMemHostGetFlags, unsigned* flags, void* host) {
  current_context();
  const Allocation* found = usable(reinterpret_cast<std::uintptr_t>(host), 0);
  require(flags && found && found->place == Place::host, CUDA_ERROR_INVALID_VALUE);
  *flags = found->flags;
}
