// What the kernel `copy_batch` is given: many copies for one launch.
#pragma once

#include <cstdint>

namespace dali_core {

// From and to memory that do not overlap.
struct BatchCopy {
  void* to;
  const void* from;
  int64_t bytes;
};

// How much one thread copies at a time.
constexpr int64_t kBytesOfCopyingThread = 64;

}  // namespace dali_core
