// Stream-ordered memory: pools that keep what was freed for the next allocation.
#include <algorithm>
#include <list>
#include <unordered_map>

#include "memory.hpp"

namespace simulated {

// A pending free in a stream. A later allocation may reuse the bytes.
struct Pending {
  unsigned long long allocation = 0;
  Ticket ticket;
  std::size_t bytes = 0;
};

struct Pool {
  CUmemoryPool handle = nullptr;
  int device = 0;
  bool destroyed = false;
  std::size_t largest = 0;  // maximum of reserved bytes, 0 for no limit
  cuuint64_t threshold = 0;
  cuuint64_t reserved = 0;
  cuuint64_t reserved_high = 0;
  cuuint64_t used = 0;  // including pending ones
  cuuint64_t used_high = 0;
  int reuse[3] = {1, 1, 1};
  std::set<int> access;
  std::list<Pending> pending;
};

namespace {

constexpr std::size_t kUnit = 512;
constexpr std::size_t kPage = std::size_t{2} << 20;

std::unordered_map<CUmemoryPool, std::shared_ptr<Pool>>& pools() {
  static auto& all = *new std::unordered_map<CUmemoryPool, std::shared_ptr<Pool>>;
  return all;
}

std::size_t rounded(std::size_t bytes, std::size_t unit) {
  require(bytes <= SIZE_MAX - unit, CUDA_ERROR_OUT_OF_MEMORY);
  return (bytes + unit - 1) / unit * unit;
}

std::shared_ptr<Pool> pool_of(CUmemoryPool handle) {
  const auto found = pools().find(handle);
  require(found != pools().end(), CUDA_ERROR_INVALID_VALUE);
  return found->second;
}

void shrink(Pool& pool, std::size_t keep) {
  const cuuint64_t least = std::max<cuuint64_t>(rounded(pool.used, kPage), keep);
  if (pool.reserved <= least) return;
  devices()[pool.device].used -= pool.reserved - least;
  pool.reserved = least;
}

// Reuses pending frees: of the same stream immediately, of others by waiting for them.
std::size_t take_over(Pool& pool, const Stream* stream, std::size_t bytes,
                      std::vector<Ticket>* waits) {
  for (Pending& pending : pool.pending) {
    const bool own = pending.ticket.stream.get() == stream;
    if (own == (waits != nullptr) || bytes == 0 || pending.bytes == 0) continue;
    const std::size_t taken = std::min(bytes, pending.bytes);
    pending.bytes -= taken;
    bytes -= taken;
    if (waits) waits->push_back(pending.ticket);
  }
  return bytes;
}

void reserve(Pool& pool, std::size_t bytes) {
  Device& device = devices()[pool.device];
  const bool fits = pool.largest == 0 || pool.reserved + bytes <= pool.largest;
  require(fits, CUDA_ERROR_OUT_OF_MEMORY);
  charge(device, bytes);
  pool.reserved += bytes;
  pool.reserved_high = std::max(pool.reserved_high, pool.reserved);
}

CUdeviceptr take(const std::shared_ptr<Pool>& pool, const std::shared_ptr<Stream>& stream,
                 std::size_t bytes) {
  require(bytes > 0, CUDA_ERROR_INVALID_VALUE);
  std::vector<Ticket> waits;
  std::list<Pending> before = pool->pending;
  std::size_t missing = take_over(*pool, stream.get(), rounded(bytes, kUnit), nullptr);
  std::size_t unused = pool->reserved - pool->used;
  if (missing > unused) {
    try {
      reserve(*pool, rounded(missing - unused, kPage));
    } catch (const Failure&) {
      missing = unused + take_over(*pool, stream.get(), missing - unused, &waits);
      try {
        if (missing > unused) reserve(*pool, rounded(missing - unused, kPage));
      } catch (const Failure&) {
        pool->pending = std::move(before);  // nothing has happened
        throw;
      }
    }
  }
  pool->used += missing;
  pool->used_high = std::max(pool->used_high, pool->used);
  Allocation& made = allocate(*stream->context, bytes, Place::pool);
  made.pool = pool;
  made.device = pool->device;
  auto* memory = reinterpret_cast<void*>(made.begin);
  submit(stream, Kind::bookkeeping, [=] { fill_new(memory, bytes); }, std::move(waits));
  return made.begin;
}

cuuint64_t* number_of(Pool& pool, CUmemPool_attribute attribute) {
  switch (attribute) {
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
      return &pool.threshold;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
      return &pool.reserved;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
      return &pool.reserved_high;
    case CU_MEMPOOL_ATTR_USED_MEM_CURRENT:
      return &pool.used;
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
      return &pool.used_high;
    default:
      fail(CUDA_ERROR_INVALID_VALUE);
  }
}

bool is_reuse(CUmemPool_attribute attribute) {
  return attribute >= CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES &&
         attribute <= CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES;
}

}  // namespace

std::shared_ptr<Pool> make_pool(int device) {
  auto pool = std::make_shared<Pool>();
  pool->handle = reinterpret_cast<CUmemoryPool>(new_handle());
  pool->device = device;
  pools()[pool->handle] = pool;
  return pool;
}

void leave_pool(const Allocation& allocation) {
  Pool& pool = *allocation.pool;
  std::size_t bytes = rounded(allocation.size, kUnit);
  for (auto one = pool.pending.begin(); one != pool.pending.end(); ++one) {
    if (one->allocation != allocation.id) continue;
    bytes = one->bytes;
    pool.pending.erase(one);
    break;
  }
  pool.used -= bytes;
  if (pool.destroyed) shrink(pool, 0);
}

// The default pool of each device cannot be destroyed.
std::size_t number_of_pools() { return pools().size() - devices().size(); }

void trim_pools() {
  for (const auto& [handle, pool] : pools()) shrink(*pool, pool->threshold);
}

bool pool_reachable(const Pool& pool, int device) {
  return pool.device == device || pool.access.count(device) != 0;
}

}  // namespace simulated

using namespace simulated;

DRIVER(cuMemAllocAsync, CUdeviceptr* pointer, size_t bytes, CUstream handle) {
  const auto stream = stream_of(handle);
  require(pointer, CUDA_ERROR_INVALID_VALUE);
  *pointer = take(stream->context->device->current_pool, stream, bytes);
}

DRIVER(cuMemAllocFromPoolAsync, CUdeviceptr* pointer, size_t bytes, CUmemoryPool pool,
       CUstream handle) {
  const auto stream = stream_of(handle);
  require(pointer, CUDA_ERROR_INVALID_VALUE);
  *pointer = take(pool_of(pool), stream, bytes);
}

DRIVER(cuMemFreeAsync, CUdeviceptr pointer, CUstream handle) {
  const auto stream = stream_without_context(handle);
  Allocation* found = usable(pointer, 0);
  require(found && found->begin == pointer && found->on_device(), CUDA_ERROR_INVALID_VALUE);
  found->returned = true;
  const auto id = found->id;
  const Ticket ticket = submit(stream, Kind::bookkeeping, [=] {
    const std::lock_guard<std::mutex> lock(mutex());
    const auto still = allocations().find(pointer);
    if (still != allocations().end() && still->second.id == id) release(pointer);
  });
  if (found->pool) found->pool->pending.push_back({id, ticket, rounded(found->size, kUnit)});
}

DRIVER(cuMemPoolCreate, CUmemoryPool* handle, const CUmemPoolProps* wanted) {
  require(handle && wanted && wanted->allocType == CU_MEM_ALLOCATION_TYPE_PINNED &&
              wanted->location.type == CU_MEM_LOCATION_TYPE_DEVICE,
          CUDA_ERROR_INVALID_VALUE);
  const auto pool = make_pool(device_at(wanted->location.id).ordinal);
  pool->largest = wanted->maxSize;
  *handle = pool->handle;
}

DRIVER(cuMemPoolDestroy, CUmemoryPool handle) {
  const auto pool = pool_of(handle);
  Device& device = devices()[pool->device];
  require(pool != device.default_pool, CUDA_ERROR_INVALID_VALUE);
  if (device.current_pool == pool) device.current_pool = device.default_pool;
  pools().erase(handle);
  pool->destroyed = true;  // allocations stay valid
  shrink(*pool, 0);
}

DRIVER(cuMemPoolTrimTo, CUmemoryPool handle, size_t keep) { shrink(*pool_of(handle), keep); }

DRIVER(cuMemPoolSetAttribute, CUmemoryPool handle, CUmemPool_attribute attribute, void* value) {
  const auto pool = pool_of(handle);
  require(value, CUDA_ERROR_INVALID_VALUE);
  if (is_reuse(attribute)) {
    pool->reuse[attribute - CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES] =
        *static_cast<int*>(value);
    return;
  }
  const cuuint64_t wanted = *static_cast<cuuint64_t*>(value);
  if (attribute == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD) {
    pool->threshold = wanted;
    return;
  }
  // The high-water marks may only be reset to the current values.
  require(wanted == 0, CUDA_ERROR_INVALID_VALUE);
  if (attribute == CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH) {
    pool->reserved_high = pool->reserved;
  } else {
    require(attribute == CU_MEMPOOL_ATTR_USED_MEM_HIGH, CUDA_ERROR_INVALID_VALUE);
    pool->used_high = pool->used;
  }
}

DRIVER(cuMemPoolGetAttribute, CUmemoryPool handle, CUmemPool_attribute attribute, void* value) {
  const auto pool = pool_of(handle);
  require(value, CUDA_ERROR_INVALID_VALUE);
  if (is_reuse(attribute)) {
    *static_cast<int*>(value) =
        pool->reuse[attribute - CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES];
  } else {
    *static_cast<cuuint64_t*>(value) = *number_of(*pool, attribute);
  }
}

DRIVER(cuMemPoolSetAccess, CUmemoryPool handle, const CUmemAccessDesc* accesses, size_t count) {
  const auto pool = pool_of(handle);
  require(accesses || count == 0, CUDA_ERROR_INVALID_VALUE);
  for (size_t index = 0; index < count; ++index) {
    const CUmemAccessDesc& access = accesses[index];
    require(access.location.type == CU_MEM_LOCATION_TYPE_DEVICE, CUDA_ERROR_INVALID_VALUE);
    const int device = device_at(access.location.id).ordinal;
    if (access.flags == CU_MEM_ACCESS_FLAGS_PROT_NONE) {
      require(device != pool->device, CUDA_ERROR_INVALID_VALUE);
      pool->access.erase(device);
    } else {
      pool->access.insert(device);
    }
  }
}

DRIVER(cuMemPoolGetAccess, CUmemAccess_flags* flags, CUmemoryPool handle, CUmemLocation* location) {
  const auto pool = pool_of(handle);
  require(flags && location, CUDA_ERROR_INVALID_VALUE);
  const bool may = pool_reachable(*pool, device_at(location->id).ordinal);
  *flags = may ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE : CU_MEM_ACCESS_FLAGS_PROT_NONE;
}

DRIVER(cuDeviceGetDefaultMemPool, CUmemoryPool* handle, CUdevice device) {
  require(handle, CUDA_ERROR_INVALID_VALUE);
  *handle = device_at(device).default_pool->handle;
}

DRIVER(cuDeviceGetMemPool, CUmemoryPool* handle, CUdevice device) {
  require(handle, CUDA_ERROR_INVALID_VALUE);
  *handle = device_at(device).current_pool->handle;
}

DRIVER(cuDeviceSetMemPool, CUdevice device, CUmemoryPool handle) {
  const auto pool = pool_of(handle);
  require(pool->device == device_at(device).ordinal, CUDA_ERROR_INVALID_VALUE);
  devices()[device].current_pool = pool;
}
