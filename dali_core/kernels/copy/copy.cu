// Copies rows of bytes, in the widest words in which both sides are aligned alike.
#include <cstdint>

#include "dali_core/kernels/copy/row_copies.hpp"

namespace dali_core {

struct alignas(16) SixteenBytes {
  uint64_t halves[2];
};

// One row, or many short ones, in words: what does not fill a word goes byte by byte.
template <typename Word>
__device__ void copy_in_words(const RowCopy& copy, int64_t thread, int64_t num_threads) {
  constexpr int64_t kSize = sizeof(Word);
  const char* const in = static_cast<const char*>(copy.in);
  char* const out = static_cast<char*>(copy.out);
  if (copy.rows == 1) {
    const int64_t misaligned = static_cast<int64_t>(reinterpret_cast<uintptr_t>(out) % kSize);
    const int64_t before = (kSize - misaligned) % kSize;
    const int64_t head = before < copy.bytes ? before : copy.bytes;
    const int64_t words = (copy.bytes - head) / kSize;
    const Word* const from = reinterpret_cast<const Word*>(in + head);
    Word* const to = reinterpret_cast<Word*>(out + head);
    int64_t i = thread;
    // Loads first, so that they are on their way together.
    for (; i + 3 * num_threads < words; i += 4 * num_threads) {
      const Word a = from[i];
      const Word b = from[i + num_threads];
      const Word c = from[i + 2 * num_threads];
      const Word d = from[i + 3 * num_threads];
      to[i] = a;
      to[i + num_threads] = b;
      to[i + 2 * num_threads] = c;
      to[i + 3 * num_threads] = d;
    }
    for (; i < words; i += num_threads) to[i] = from[i];
    const int64_t tail = head + words * kSize;
    if (thread < head) out[thread] = in[thread];
    if (thread < copy.bytes - tail) out[tail + thread] = in[tail + thread];
    return;
  }
  // All rows begin at words, and consist of them.
  const int64_t words = copy.bytes / kSize;
  const int64_t total = copy.rows * words;
  for (int64_t i = thread; i < total; i += num_threads) {
    const int64_t row = i / words;
    const int64_t offset = (i - row * words) * kSize;
    *reinterpret_cast<Word*>(out + row * copy.output_pitch + offset) =
        *reinterpret_cast<const Word*>(in + row * copy.input_pitch + offset);
  }
}

}  // namespace dali_core

extern "C" __global__ void copy_rows(const dali_core::RowCopy* copies, int count) {
  const int number = static_cast<int>(blockIdx.y + gridDim.y * blockIdx.z);
  if (number >= count) return;
  const dali_core::RowCopy copy = copies[number];
  const int64_t thread = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const int64_t num_threads = static_cast<int64_t>(gridDim.x) * blockDim.x;
  const uintptr_t in = reinterpret_cast<uintptr_t>(copy.in);
  const uintptr_t out = reinterpret_cast<uintptr_t>(copy.out);
  const uintptr_t pitches = static_cast<uintptr_t>(copy.input_pitch | copy.output_pitch);
  const uintptr_t apart =
      copy.rows == 1 ? in ^ out : in | out | pitches | static_cast<uintptr_t>(copy.bytes);
  if (apart % 16 == 0)
    dali_core::copy_in_words<dali_core::SixteenBytes>(copy, thread, num_threads);
  else if (apart % 4 == 0)
    dali_core::copy_in_words<uint32_t>(copy, thread, num_threads);
  else
    dali_core::copy_in_words<char>(copy, thread, num_threads);
}
