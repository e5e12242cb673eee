// Sizes of blocks of memory, and where samples begin in them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace dali_core {

// Samples of different shapes that share a block on a device begin at multiples of this, where
// kernels move them in the widest words.
constexpr std::int64_t kRaggedAlignment = 256;

// Rounds up to a class, four to a power of two and multiples of `smallest`: at most 25 % of a block
// is slack, and what differs little from batch to batch has one size.
inline std::size_t size_class(std::size_t bytes, std::size_t smallest) {
  if (bytes <= 4 * smallest)
    return bytes == 0 ? smallest : (bytes + smallest - 1) / smallest * smallest;
  std::size_t power = 4 * smallest;
  while (power < bytes - power) power *= 2;
  const std::size_t step = power / 4;
  return (bytes + step - 1) / step * step;
}

}  // namespace dali_core
