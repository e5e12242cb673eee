// Copies and fills.
#include <cstring>

#include "memory.hpp"

namespace simulated {
namespace {

// One side of a copy, as specified by the program.
enum class Side { any, host, device };

struct Range {
  std::uintptr_t begin = 0;
  std::size_t bytes = 0;
  bool on_device = false;
  bool pageable = false;
  int device = -1;
  unsigned long long id = 0;

  void* data() const { return reinterpret_cast<void*>(begin); }
};

Range range_of(std::uintptr_t begin, std::size_t bytes, Side side) {
  const Allocation* found = usable(begin, bytes);
  if (!found) {
    require(side != Side::device && begin, CUDA_ERROR_INVALID_VALUE);
    return {begin, bytes, false, true, -1, 0};
  }
  require(side != Side::host || !found->on_device(), CUDA_ERROR_INVALID_VALUE);
  const int device = found->on_device() ? found->device : -1;
  return {begin, bytes, found->on_device(), false, device, found->id};
}

bool still_there(const Range& range) {
  if (range.pageable) return true;
  const Allocation* found = allocation_at(range.begin);
  return found && found->id == range.id;
}

// Whether a stream may access the memory asynchronously.
bool may_touch(Context& context, const Range& range) {
  const std::lock_guard<std::mutex> lock(mutex());
  if (still_there(range)) return true;
  report("a copy or a fill of memory that was freed before the stream got there", range.data());
  break_context(context, CUDA_ERROR_ILLEGAL_ADDRESS);
  return false;
}

void require_near(const Context& context, const Range& range) {
  const Allocation* found = allocation_at(range.begin);
  require(!range.on_device || reachable(*found, context), CUDA_ERROR_INVALID_VALUE);
}

void copy(const std::shared_ptr<Stream>& stream, const Range& to, const Range& from, bool wait) {
  Context& context = *stream->context;
  // Copies between devices are always possible; host memory has to be accessible.
  if (!(to.on_device && from.on_device)) {
    require_near(context, to);
    require_near(context, from);
  }
  const bool is_late = settings().uses_host_page_tables;
  if (from.pageable && !is_late) {
    const auto bytes = static_cast<const char*>(from.data());
    const auto taken = std::make_shared<std::vector<char>>(bytes, bytes + from.bytes);
    const Ticket ticket = submit(stream, Kind::work, [&context, to, taken] {
      if (may_touch(context, to)) std::memcpy(to.data(), taken->data(), taken->size());
    });
    if (wait || to.pageable) wait_for(ticket, context);
    return;
  }
  const Ticket ticket = submit(stream, Kind::work, [&context, to, from] {
    if (may_touch(context, to) && may_touch(context, from)) {
      std::memmove(to.data(), from.data(), from.bytes);
    }
  });
  if (wait || (to.pageable && !is_late)) wait_for(ticket, context);
}

void copy(CUstream handle, CUdeviceptr to, Side to_side, CUdeviceptr from, Side from_side,
          std::size_t bytes, bool wait) {
  const auto stream = stream_of(handle);
  if (bytes == 0) return;
  const Range target = range_of(to, bytes, to_side);
  const Range source = range_of(from, bytes, from_side);
  if (wait) waited_for_device();
  if (!wait && (target.pageable || source.pageable)) copied_pageable();
  copy(stream, target, source, wait);
}

CUdeviceptr address(const void* pointer) { return reinterpret_cast<CUdeviceptr>(pointer); }

template <class Element>
void fill(CUstream handle, CUdeviceptr to, Element value, std::size_t count, bool wait) {
  const auto stream = stream_of(handle);
  require(to % sizeof value == 0, CUDA_ERROR_INVALID_VALUE);
  require(count <= SIZE_MAX / sizeof value, CUDA_ERROR_INVALID_VALUE);
  if (count == 0) return;
  Context& context = *stream->context;
  const Range range = range_of(to, count * sizeof value, Side::any);
  require(!range.pageable, CUDA_ERROR_INVALID_VALUE);
  require_near(context, range);
  if (wait) waited_for_device();
  const Ticket ticket = submit(stream, Kind::work, [&context, range, value, count] {
    if (!may_touch(context, range)) return;
    auto* elements = static_cast<Element*>(range.data());
    for (std::size_t index = 0; index < count; ++index) elements[index] = value;
  });
  if (wait) wait_for(ticket, context);
}

}  // namespace
}  // namespace simulated

using namespace simulated;

DRIVER(cuMemcpyHtoD, CUdeviceptr to, const void* from, size_t bytes) {
  copy(nullptr, to, Side::device, address(from), Side::host, bytes, true);
}

DRIVER(cuMemcpyDtoH, void* to, CUdeviceptr from, size_t bytes) {
  copy(nullptr, address(to), Side::host, from, Side::device, bytes, true);
}

DRIVER(cuMemcpyDtoD, CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  copy(nullptr, to, Side::device, from, Side::device, bytes, true);
}

DRIVER(cuMemcpy, CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  copy(nullptr, to, Side::any, from, Side::any, bytes, true);
}

DRIVER(cuMemcpyHtoDAsync, CUdeviceptr to, const void* from, size_t bytes, CUstream stream) {
  copy(stream, to, Side::device, address(from), Side::host, bytes, false);
}

DRIVER(cuMemcpyDtoHAsync, void* to, CUdeviceptr from, size_t bytes, CUstream stream) {
  copy(stream, address(to), Side::host, from, Side::device, bytes, false);
}

DRIVER(cuMemcpyDtoDAsync, CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  copy(stream, to, Side::device, from, Side::device, bytes, false);
}

DRIVER(cuMemcpyAsync, CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  copy(stream, to, Side::any, from, Side::any, bytes, false);
}

DRIVER(cuMemcpyPeerAsync, CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
       CUcontext from_context, size_t bytes, CUstream stream) {
  if (bytes == 0) return;
  const Range target = range_of(to, bytes, Side::device);
  const Range source = range_of(from, bytes, Side::device);
  require(target.device == context_of(to_context).device->ordinal &&
              source.device == context_of(from_context).device->ordinal,
          CUDA_ERROR_INVALID_VALUE);
  copy(stream_of(stream), target, source, false);
}

DRIVER(cuMemcpyPeer, CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context,
       size_t bytes) {
  body_of_cuMemcpyPeerAsync(to, to_context, from, from_context, bytes, nullptr);
  waited_for_device();
  wait_for_stream(stream_of(nullptr));
}

DRIVER(cuMemsetD8, CUdeviceptr to, unsigned char value, size_t count) {
  fill(nullptr, to, value, count, true);
}

DRIVER(cuMemsetD16, CUdeviceptr to, unsigned short value, size_t count) {
  fill(nullptr, to, value, count, true);
}

DRIVER(cuMemsetD32, CUdeviceptr to, unsigned value, size_t count) {
  fill(nullptr, to, value, count, true);
}

DRIVER(cuMemsetD8Async, CUdeviceptr to, unsigned char value, size_t count, CUstream stream) {
  fill(stream, to, value, count, false);
}

DRIVER(cuMemsetD16Async, CUdeviceptr to, unsigned short value, size_t count, CUstream stream) {
  fill(stream, to, value, count, false);
}

DRIVER(cuMemsetD32Async, CUdeviceptr to, unsigned value, size_t count, CUstream stream) {
  fill(stream, to, value, count, false);
}
