#include "dali_core/memory.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <new>
#include <utility>

#include "dali_core/size_classes.hpp"

namespace dali_core {
namespace {

constexpr std::size_t kIdleFloor = std::size_t{32} << 20;
constexpr std::size_t kPeakDecay = 4096;  // in allocations; a batch takes some hundreds

}  // namespace

std::shared_ptr<BufferPool> BufferPool::create(BlockSource source) {
  return std::shared_ptr<BufferPool>(new BufferPool(source));
}

BufferPool::~BufferPool() { trim(); }

std::shared_ptr<void> BufferPool::allocate(std::size_t bytes) {
  const std::size_t capacity = size_class(bytes, kAlignment);
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
  return std::shared_ptr<void>(block, Return{shared_from_this(), capacity});
}

bool BufferPool::owns(const std::shared_ptr<void>& memory) const {
  const Return* deleter = std::get_deleter<Return>(memory);
  return deleter != nullptr && deleter->pool.get() == this;
}

void BufferPool::trim() {
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

std::size_t BufferPool::idle_bytes() {
  std::lock_guard<std::mutex> lock(mutex_);
  return idle_bytes_;
}

std::size_t BufferPool::used_bytes() {
  std::lock_guard<std::mutex> lock(mutex_);
  return used_bytes_;
}

BufferPool::BufferPool(BlockSource source) : source_(source), owner_process_(::getpid()) {}

void* BufferPool::take(std::size_t bytes, std::size_t capacity) {
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

void BufferPool::give_back(void* block, std::size_t capacity) noexcept {
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
// stays, however early it was released. Blocks of the least recently used size are freed first.
void* BufferPool::take_stale() noexcept {
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

BlockSource BlockSource::host_memory() {
  return {[](void*, std::size_t bytes) { return std::aligned_alloc(kAlignment, bytes); },
          [](void*, void* block) { std::free(block); }, nullptr,
          std::min(host_memory_limit(), static_cast<std::size_t>(kMaxBytes))};
}

}  // namespace dali_core
