// A block of a device's memory, and the streams that must be done with it before it is freed.
#pragma once

#include <cuda.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "dali_core/size_classes.hpp"
#include "device_state.hpp"

namespace dali_core {

struct Block {
  Block(const std::shared_ptr<StreamState>& stream, size_t bytes) noexcept
      : stream(stream), bytes(bytes) {}

  DeviceState* device() const { return stream->device.get(); }

  // Another stream that reads it, which is held until the block is free: events must not be
  // recorded in a stream that was destroyed.
  void add_consumer(const std::shared_ptr<StreamState>& consumer) {
    if (consumer->stream == stream->stream) return;
    std::lock_guard<std::mutex> lock(mutex);
    const auto same = std::find_if(consumers.begin(), consumers.end(), [&](const auto& known) {
      return known->stream == consumer->stream;
    });
    if (same == consumers.end())
      consumers.push_back(consumer);
    else if (!(*same)->is_held())
      *same = consumer;
  }

  const std::shared_ptr<StreamState> stream;  // in whose order it is made and freed
  const size_t bytes;
  CUdeviceptr pointer = 0;
  bool is_from_pool = false;
  std::shared_ptr<void> allocator;  // a Python object, if it is from a user's allocator
  std::shared_ptr<void> error;      // the error that this raised, if it did

  std::mutex mutex;
  std::vector<std::shared_ptr<StreamState>> consumers;
};

struct BlockDeleter {
  Block* block;
  void (*close)(Block*);
  void operator()(void*) const { close(block); }
};

// Null if the host has no memory left.
inline Block* new_block(const std::shared_ptr<StreamState>& stream, size_t bytes) noexcept {
  return new (std::nothrow) Block(stream, bytes);
}

// Null if the host has no memory left; the block is closed then.
inline std::shared_ptr<void> share_block(Block* block, void (*close)(Block*)) noexcept {
  try {
    return std::shared_ptr<void>(reinterpret_cast<void*>(block->pointer),
                                 BlockDeleter{block, close});
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

// Null if the memory is not a block of ours.
inline Block* block_of(const std::shared_ptr<void>& memory) {
  const BlockDeleter* deleter = std::get_deleter<BlockDeleter>(memory);
  return deleter ? deleter->block : nullptr;
}

// Where allocators of users are kept: by number of the device, -1 for all that have none.
class Allocators {
 public:
  void set(int device, std::shared_ptr<void> allocator) {
    // The one before goes without the lock, since it may run any code.
    std::lock_guard<std::mutex> lock(mutex_);
    std::swap(allocators_[device], allocator);
    if (!allocators_[device]) allocators_.erase(device);
    is_empty_ = allocators_.empty();
  }
  std::shared_ptr<void> get(int device) {
    if (is_empty_) return nullptr;
    std::lock_guard<std::mutex> lock(mutex_);
    auto found = allocators_.find(device);
    if (found == allocators_.end()) found = allocators_.find(-1);
    return found == allocators_.end() ? nullptr : found->second;
  }

 private:
  std::mutex mutex_;
  std::atomic<bool> is_empty_{true};
  std::map<int, std::shared_ptr<void>> allocators_;
};

// The device in whose context pinned memory is made. It is held until the pool is closed and
// has returned everything.
class HostSource {
 public:
  explicit HostSource(std::shared_ptr<DeviceState> device) : device_(std::move(device)) {}

  DeviceState* device() const { return device_.get(); }
  void add() {
    std::lock_guard<std::mutex> lock(mutex_);
    ++num_blocks_;
  }
  void remove() { release(1, false); }
  void close() { release(0, true); }

  std::atomic<int> last_status{CUDA_SUCCESS};

 private:
  void release(int64_t count, bool is_closed) {
    std::shared_ptr<DeviceState> last;  // goes without the lock
    std::lock_guard<std::mutex> lock(mutex_);
    num_blocks_ -= count;
    is_closed_ |= is_closed;
    if (is_closed_ && num_blocks_ == 0) last = std::move(device_);
  }

  std::shared_ptr<DeviceState> device_;
  std::mutex mutex_;
  int64_t num_blocks_ = 0;
  bool is_closed_ = false;
};

}  // namespace dali_core
