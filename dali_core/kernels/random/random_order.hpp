// Random orders of the samples of a batch: fn.batch_permutation, fn.mixup and fn.cutmix.
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

}  // namespace dali_core
