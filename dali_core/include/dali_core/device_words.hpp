// Bytes that begin anywhere, in words: aligned loads, and shifts across two of them. For device
// code only.
#pragma once

#include <cstdint>

#include "dali_core/element_groups.hpp"

namespace dali_core {

// Four words, moved as one.
struct alignas(16) FourWords {
  uint32_t words[4];
};

// Bytes `skipped` (0 to 3) to `skipped` + 3 of two words that follow each other.
inline __device__ uint32_t word_across(uint32_t low, uint32_t high, int skipped) {
  return static_cast<uint32_t>((uint64_t{high} << 32 | low) >> (8 * skipped));
}

// The memory of a tensor: words that are partly outside of it may not be loaded.
struct ByteRange {
  uintptr_t begin;
  uintptr_t end;

  inline __device__ ByteRange(const void* data, int64_t bytes)
      : begin(reinterpret_cast<uintptr_t>(data)), end(begin + static_cast<uintptr_t>(bytes)) {}

  // Whether `bytes` bytes from `from` on can be loaded in words.
  inline __device__ bool has_words(const void* from, int bytes) const {
    const uintptr_t address = reinterpret_cast<uintptr_t>(from);
    return address / 4 * 4 >= begin && address + bytes + 3 <= end;
  }
};

// Loads kWords words from any address; the words that they are parts of must be there.
template <int kWords>
inline __device__ void load_words(const void* from, uint32_t (&words)[kWords]) {
  const uintptr_t address = reinterpret_cast<uintptr_t>(from);
  const int skipped = static_cast<int>(address % 4);
  const uint32_t* const aligned = reinterpret_cast<const uint32_t*>(address - skipped);
  uint32_t loaded[kWords + 1];
#pragma unroll
  for (int i = 0; i < kWords; ++i) loaded[i] = aligned[i];
  loaded[kWords] = skipped == 0 ? 0 : aligned[kWords];
#pragma unroll
  for (int i = 0; i < kWords; ++i) words[i] = word_across(loaded[i], loaded[i + 1], skipped);
}

// Byte `number` of an array of words; `number` is known when the code is compiled.
inline __device__ uint32_t byte_of(const uint32_t* words, int number) {
  return words[number / 4] >> (8 * (number % 4)) & 255;
}

}  // namespace dali_core
