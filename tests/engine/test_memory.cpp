// BufferPool: alignment, reuse, and that referenced memory is never reused.
#include <algorithm>
#include <cstring>
#include <set>
#include <thread>
#include <vector>

#include "check.hpp"
#include "dali_core/memory.hpp"

using dali_core::BufferPool;
using dali_core::kAlignment;

TEST(blocks_are_aligned_and_large_enough) {
  auto pool = BufferPool::create();
  for (std::size_t bytes = 0; bytes < 5000; bytes += 37) {
    auto block = pool->allocate(bytes);
    CHECK(reinterpret_cast<std::uintptr_t>(block.get()) % kAlignment == 0);
    std::memset(block.get(), 0xab, bytes);  // AddressSanitizer detects overflows
    CHECK(pool->used_bytes() >= bytes);
    CHECK(pool->used_bytes() <= bytes + bytes / 4 + kAlignment);
  }
  CHECK_EQUAL(pool->used_bytes(), 0u);
}

TEST(block_is_reused_after_last_reference) {
  auto pool = BufferPool::create();
  auto first = pool->allocate(1000);
  auto also_first = first;
  void* const address = first.get();
  auto second = pool->allocate(1000);
  CHECK(second.get() != address);
  first.reset();
  CHECK(pool->allocate(1000).get() != address);
  also_first.reset();
  CHECK(pool->allocate(1000).get() == address);
}

TEST(trim_frees_idle_blocks_only) {
  auto pool = BufferPool::create();
  auto held = pool->allocate(1 << 16);
  pool->allocate(1 << 20);
  CHECK(pool->idle_bytes() >= 1 << 20);
  pool->trim();
  CHECK_EQUAL(pool->idle_bytes(), 0u);
  std::memset(held.get(), 1, 1 << 16);
  CHECK(pool->used_bytes() >= 1 << 16);
}

// A constant limit would free memory that the next batch needs: unused memory may be as much as the
// recent peak of used memory, plus a quarter, plus a constant.
TEST(idle_memory_is_bounded) {
  auto pool = BufferPool::create();
  const std::size_t megabyte = std::size_t{1} << 20, always = 32 * megabyte;
  std::size_t peak = 0;
  // Sizes that never recur must not accumulate.
  for (std::size_t i = 1; i < 100; ++i) {
    auto block = pool->allocate(i * megabyte);
    peak = std::max(peak, pool->used_bytes());
    block.reset();
    CHECK_EQUAL(pool->used_bytes(), 0u);
    CHECK(pool->idle_bytes() <= peak + peak / 4 + always);
  }
  // The blocks of the last one are kept, and some of the others.
  CHECK(pool->idle_bytes() >= peak);
  // An old peak does not count either: it decays by 1/4096 with every block.
  const std::size_t small = megabyte / 16;
  for (int i = 0; i < 40000; ++i) {
    pool->allocate(small);
    peak = std::max(small, peak - peak / 4096);
    CHECK(pool->idle_bytes() <= peak + peak / 4 + always);
  }
  CHECK(peak < 2 * small);
}

TEST(a_block_outlives_its_pool) {
  auto pool = BufferPool::create();
  auto block = pool->allocate(100);
  pool.reset();
  std::memset(block.get(), 1, 100);
  CHECK_EQUAL(static_cast<char*>(block.get())[99], 1);
}

TEST(failed_allocation_throws_bad_alloc) {
  auto pool = BufferPool::create();
  pool->allocate(1000);
  CHECK_THROWS(pool->allocate(std::size_t{1} << 60), std::bad_alloc);
  auto block = pool->allocate(1000);
  CHECK(block != nullptr);
}

TEST(threads_never_share_a_block) {
  auto pool = BufferPool::create();
  std::vector<std::thread> threads;
  std::vector<int> corrupted(4);
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      std::vector<std::shared_ptr<void>> held(8);
      for (int i = 0; i < 2000; ++i) {
        auto& slot = held[i % held.size()];
        const std::size_t bytes = 64 + (i * 97) % 900;
        if (slot && *static_cast<unsigned char*>(slot.get()) != t) ++corrupted[t];
        slot = pool->allocate(bytes);
        std::memset(slot.get(), t, bytes);
      }
    });
  for (auto& thread : threads) thread.join();
  for (int count : corrupted) CHECK_EQUAL(count, 0);
  CHECK_EQUAL(pool->used_bytes(), 0u);
}

TEST(a_block_may_be_released_by_another_thread) {
  auto pool = BufferPool::create();
  std::vector<std::shared_ptr<void>> blocks;
  for (int i = 0; i < 100; ++i) blocks.push_back(pool->allocate(256));
  std::thread([moved = std::move(blocks)]() mutable { moved.clear(); }).join();
  CHECK_EQUAL(pool->used_bytes(), 0u);
  CHECK(pool->idle_bytes() >= 100 * 256);
}
