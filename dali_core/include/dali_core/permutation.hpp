// The order of an epoch: a permutation of {0, ..., size - 1} that any process evaluates at any
// position without keeping a list.
//
// A Feistel network over the smallest even number of bits that holds `size`, with Philox as round
// function; values outside the range walk on along their cycle (Black and Rogaway, "Ciphers with
// arbitrary finite domains", CT-RSA 2002). Fewer than four steps on average.
#pragma once

#include <cstdint>

#include "dali_core/philox.hpp"

namespace dali_core {

class Permutation {
 public:
  Permutation(uint64_t size, uint64_t seed, uint64_t epoch) : size_(size), epoch_(epoch) {
    while (half_bits_ < 32 && (uint64_t{1} << (2 * half_bits_)) < size) ++half_bits_;
    mask_ = half_bits_ == 32 ? 0xffffffffu : (uint32_t{1} << half_bits_) - 1;
    key0_ = static_cast<uint32_t>(seed);
    key1_ = static_cast<uint32_t>(seed >> 32);
  }

  uint64_t operator()(uint64_t position) const {
    if (size_ < 2) return position;
    do {
      position = encrypt(position);
    } while (position >= size_);
    return position;
  }

  // Writes the elements at all positions, or at `count` of them.
  void list(int64_t* elements) const { list(0, size_, elements); }
  void list(uint64_t first, uint64_t count, int64_t* elements) const;

 private:
  // Eight rounds: four suffice for large domains, small ones mix better with more.
  uint64_t encrypt(uint64_t value) const {
    uint32_t left = static_cast<uint32_t>(value >> half_bits_) & mask_;
    uint32_t right = static_cast<uint32_t>(value) & mask_;
    for (uint32_t round = 0; round < 8; ++round) {
      const uint32_t mixed = philox4x32(
          {right, round, static_cast<uint32_t>(epoch_), static_cast<uint32_t>(epoch_ >> 32)}, key0_,
          key1_)[0];
      const uint32_t next = left ^ (mixed & mask_);
      left = right;
      right = next;
    }
    return (static_cast<uint64_t>(left) << half_bits_) | right;
  }

  uint64_t size_;
  uint64_t epoch_;
  uint32_t half_bits_ = 1;
  uint32_t mask_;
  uint32_t key0_, key1_;
};

}  // namespace dali_core
