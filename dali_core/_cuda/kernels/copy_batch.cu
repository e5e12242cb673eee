// Copies of any sizes, all in one launch: number blockIdx.y + gridDim.y * blockIdx.z in each block.
#include "dali_core/_cuda/kernels/copy_batch.hpp"

#include <cstdint>

namespace dali_core {

// Copies whole words from both ends of a range that is aligned to them.
template <typename Word>
__device__ void copy_words(char* to, const char* from, int64_t count, int64_t thread,
                           int64_t num_threads) {
  Word* const target = reinterpret_cast<Word*>(to);
  const Word* const source = reinterpret_cast<const Word*>(from);
  int64_t i = thread;
  // Loads first: they are on their way together.
  for (; i + 3 * num_threads < count; i += 4 * num_threads) {
    const Word a = source[i];
    const Word b = source[i + num_threads];
    const Word c = source[i + 2 * num_threads];
    const Word d = source[i + 3 * num_threads];
    target[i] = a;
    target[i + num_threads] = b;
    target[i + 2 * num_threads] = c;
    target[i + 3 * num_threads] = d;
  }
  for (; i < count; i += num_threads) target[i] = source[i];
}

// Copies words where both sides can be aligned to them, and the bytes before and after.
template <typename Word>
__device__ void copy_aligned(const BatchCopy& copy, int64_t thread, int64_t num_threads) {
  char* const to = static_cast<char*>(copy.to);
  const char* const from = static_cast<const char*>(copy.from);
  const int64_t size = sizeof(Word);
  const int64_t before =
      (size - static_cast<int64_t>(reinterpret_cast<uintptr_t>(to) % size)) % size;
  const int64_t head = before < copy.bytes ? before : copy.bytes;
  const int64_t words = (copy.bytes - head) / size;
  const int64_t tail = head + words * size;
  copy_words<Word>(to + head, from + head, words, thread, num_threads);
  if (thread < head) to[thread] = from[thread];
  if (thread < copy.bytes - tail) to[tail + thread] = from[tail + thread];
}

}  // namespace dali_core

extern "C" __global__ void copy_batch(const dali_core::BatchCopy* copies, int count) {
  const int number = static_cast<int>(blockIdx.y + gridDim.y * blockIdx.z);
  if (number >= count) return;
  const dali_core::BatchCopy copy = copies[number];
  const int64_t thread = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const int64_t num_threads = static_cast<int64_t>(gridDim.x) * blockDim.x;
  const uintptr_t apart =
      reinterpret_cast<uintptr_t>(copy.to) ^ reinterpret_cast<uintptr_t>(copy.from);
  if (apart % 16 == 0)
    dali_core::copy_aligned<uint4>(copy, thread, num_threads);
  else if (apart % 4 == 0)
    dali_core::copy_aligned<uint32_t>(copy, thread, num_threads);
  else
    dali_core::copy_words<char>(static_cast<char*>(copy.to), static_cast<const char*>(copy.from),
                                copy.bytes, thread, num_threads);
}
