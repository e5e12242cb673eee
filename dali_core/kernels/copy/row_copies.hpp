// Copies of rows of bytes, which the kernel `copy_rows` does: fn.copy, all that concatenates
// tensors, and copies of batches.
#pragma once

#include <cstdint>

namespace dali_core {

// `rows` rows of `bytes` bytes, which begin so many bytes apart. In and out do not overlap.
struct RowCopy {
  const void* in;
  void* out;
  int64_t rows;
  int64_t bytes;
  int64_t input_pitch = 0;
  int64_t output_pitch = 0;
};

// How much one thread copies at a time.
constexpr int64_t kBytesOfRowThread = 64;

}  // namespace dali_core
