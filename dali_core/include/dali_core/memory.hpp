// 64-byte aligned, reference-counted memory with a free list behind it.
//
// A block returns to the list only when its last owner releases it, so memory that is still
// referenced is never written again. Reuse matters: fresh pages of a 40 MB batch cost as much as a
// fifth of the work that fills them.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
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
  std::size_t most_bytes = kMaxBytes;  // that a pool may have in use

  static BlockSource host_memory();
};

class BufferPool : public std::enable_shared_from_this<BufferPool> {
 public:
  static std::shared_ptr<BufferPool> create(BlockSource source = BlockSource::host_memory());

  ~BufferPool();
  BufferPool(const BufferPool&) = delete;
  BufferPool& operator=(const BufferPool&) = delete;

  // At least `bytes` bytes. The block keeps the pool alive, so it may outlive its pipeline.
  std::shared_ptr<void> allocate(std::size_t bytes);

  // Whether memory is in a block of this pool.
  bool owns(const std::shared_ptr<void>& memory) const;

  // Frees every unreferenced block.
  void trim();

  std::size_t idle_bytes();
  std::size_t used_bytes();

 private:
  explicit BufferPool(BlockSource source);

  void free(void* block) { source_.free(source_.context, block); }

  void* take(std::size_t bytes, std::size_t capacity);
  void give_back(void* block, std::size_t capacity) noexcept;
  void* take_stale() noexcept;

  // Deletes the owners of a block.
  struct Return {
    std::shared_ptr<BufferPool> pool;
    std::size_t capacity;
    void operator()(void* block) const { pool->give_back(block, capacity); }
  };

  struct FreeList {
    std::vector<void*> blocks;
    uint64_t last_use = 0;
  };

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
