// 64-byte aligned, reference-counted memory with a free list behind it.
//
// A block returns to the list only when its last owner lets go, so memory that somebody holds is
// never written again. Reuse matters: fresh pages of a 40 MB batch cost as much as a fifth of the
// work that fills them.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "dali_core/host_memory.hpp"
#include "dali_core/sizes.hpp"

namespace dali_core {

constexpr std::size_t kAlignment = 64;

// Where a pool's blocks come from, aligned to kAlignment; `context` is passed on.
struct BlockSource {
  void* (*allocate)(void* context, std::size_t bytes) = nullptr;  // null if there is no more
  void (*free)(void* context, void* block) = nullptr;
  void* context = nullptr;
  std::size_t most_bytes = kMostBytes;  // that a pool may have in use

  static BlockSource host_memory() {
    return {[](void*, std::size_t bytes) { return std::aligned_alloc(kAlignment, bytes); },
            [](void*, void* block) { std::free(block); }, nullptr,
            std::min(host_memory_limit(), static_cast<std::size_t>(kMostBytes))};
  }
};

class BufferPool : public std::enable_shared_from_this<BufferPool> {
 public:
  static std::shared_ptr<BufferPool> create(BlockSource source = BlockSource::host_memory()) {
    return std::shared_ptr<BufferPool>(new BufferPool(source));
  }

  ~BufferPool() { trim(); }
  BufferPool(const BufferPool&) = delete;
  BufferPool& operator=(const BufferPool&) = delete;

  // At least `bytes` bytes. The block keeps the pool alive, so it may outlive its pipeline.
  std::shared_ptr<void> allocate(std::size_t bytes) {
    const std::size_t capacity = capacity_for(bytes);
    void* block = take(bytes, capacity);
    if (block == nullptr) {
      block = source_.allocate(source_.context, capacity);
      if (block == nullptr) {
        trim();
        block = source_.allocate(source_.context, capacity);
      }
      if (block == nullptr) {
        std::lock_guard<std::mutex> lock(mutex_);
        used_bytes_ -= capacity;
        throw OutOfMemory(bytes, source_.most_bytes);
      }
    }
    return std::shared_ptr<void>(
        block, [pool = shared_from_this(), capacity](void* p) { pool->give_back(p, capacity); });
  }

  // Frees every block that nobody holds.
  void trim() {
    std::vector<void*> blocks;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      for (auto& [capacity, list] : free_)
        blocks.insert(blocks.end(), list.blocks.begin(), list.blocks.end());
      free_.clear();
      idle_bytes_ = 0;
    }
    if (::getpid() != owner_process_ && source_.context) return;
    for (void* block : blocks) free(block);
  }

  std::size_t idle_bytes() {
    std::lock_guard<std::mutex> lock(mutex_);
    return idle_bytes_;
  }
  std::size_t used_bytes() {
    std::lock_guard<std::mutex> lock(mutex_);
    return used_bytes_;
  }

 private:
  explicit BufferPool(BlockSource source) : source_(source), owner_process_(::getpid()) {}

  void free(void* block) { source_.free(source_.context, block); }

  // Four classes to a power of two: at most 25 % of a block is slack, and sizes repeat.
  static std::size_t capacity_for(std::size_t bytes) {
    if (bytes <= 4 * kAlignment)
      return (bytes + kAlignment - 1) / kAlignment * kAlignment + (bytes == 0) * kAlignment;
    std::size_t power = 4 * kAlignment;
    while (power < bytes - power) power *= 2;
    const std::size_t step = power / 4;
    return (bytes + step - 1) / step * step;
  }

  void* take(std::size_t bytes, std::size_t capacity) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (bytes > source_.most_bytes - std::min(used_bytes_, source_.most_bytes))
      throw OutOfMemory(bytes, source_.most_bytes);
    used_bytes_ += capacity;
    recent_peak_ = std::max(used_bytes_, recent_peak_ - recent_peak_ / kPeakDecay);
    auto found = free_.find(capacity);
    if (found == free_.end()) return nullptr;
    FreeList& list = found->second;
    list.last_use = ++num_takes_;
    if (list.blocks.empty()) return nullptr;
    void* block = list.blocks.back();
    list.blocks.pop_back();
    idle_bytes_ -= capacity;
    return block;
  }

  void give_back(void* block, std::size_t capacity) noexcept {
    // In a forked child the lock may be held by a thread that does not exist there.
    // What a driver gave is not the child's to return.
    if (::getpid() != owner_process_) {
      if (!source_.context) free(block);
      return;
    }
    {
      std::lock_guard<std::mutex> lock(mutex_);
      used_bytes_ -= capacity;
      try {
        free_[capacity].blocks.push_back(block);
        idle_bytes_ += capacity;
        block = nullptr;
      } catch (const std::bad_alloc&) {
        // Without room in the list, the block goes back to the system.
      }
    }
    if (block) free(block);
    while (void* stale = take_stale()) free(stale);
  }

  // All blocks together are bounded by what was in use at once not long ago: what every batch needs
  // stays, however early the last one was let go. The size asked for least recently goes first.
  void* take_stale() noexcept {
    std::lock_guard<std::mutex> lock(mutex_);
    if (used_bytes_ + idle_bytes_ <= recent_peak_ + recent_peak_ / 4 + kIdleFloor) return nullptr;
    auto stalest = free_.end();
    for (auto entry = free_.begin(); entry != free_.end(); ++entry) {
      if (entry->second.blocks.empty()) continue;
      if (stalest == free_.end() || entry->second.last_use < stalest->second.last_use)
        stalest = entry;
    }
    if (stalest == free_.end()) return nullptr;
    void* block = stalest->second.blocks.back();
    stalest->second.blocks.pop_back();
    idle_bytes_ -= stalest->first;
    return block;
  }

  struct FreeList {
    std::vector<void*> blocks;
    uint64_t last_use = 0;
  };

  static constexpr std::size_t kIdleFloor = std::size_t{32} << 20;
  static constexpr std::size_t kPeakDecay = 4096;  // in allocations; a batch takes some hundreds

  const BlockSource source_;
  std::mutex mutex_;
  std::map<std::size_t, FreeList> free_;  // by capacity
  uint64_t num_takes_ = 0;
  std::size_t idle_bytes_ = 0;
  std::size_t used_bytes_ = 0;
  std::size_t recent_peak_ = 0;
  const ::pid_t owner_process_;
};

}  // namespace dali_core
