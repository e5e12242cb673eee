// fn.batch_permutation: random orders and random indices.
#pragma once

#include <cstdint>
#include <numeric>
#include <utility>

#include "dali_core/philox.hpp"

namespace dali_core {

// Durstenfeld: "Algorithm 235: random permutation", Communications of the ACM 7 (1964). With one
// cycle: Sattolo, "An algorithm to generate a random cyclic permutation", Information Processing
// Letters 22 (1986).
inline void random_order(int32_t* order, int32_t size, bool one_cycle, RandomStream& random) {
  std::iota(order, order + size, 0);
  for (int32_t last = size - 1; last > 0; --last) {
    const auto bound = static_cast<uint32_t>(one_cycle ? last : last + 1);
    std::swap(order[last], order[random.next_below(bound)]);
  }
}

// An index below `size`; not `self` if that is to be avoided.
inline int32_t random_index(int32_t size, int32_t self, bool avoids_self, RandomStream& random) {
  if (!avoids_self || size == 1) return random.next_below(static_cast<uint32_t>(size));
  const auto index = static_cast<int32_t>(random.next_below(static_cast<uint32_t>(size - 1)));
  return index < self ? index : index + 1;
}

}  // namespace dali_core
