// fn.random.choice: which element a random number chooses.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "dali_core/philox.hpp"

namespace dali_core {

// Uniform in {0, ..., bound - 1}, without bias, for bounds beyond 32 bits as well.
inline uint64_t choose_below(RandomStream& random, uint64_t bound) {
  if (bound <= UINT32_MAX) return random.next_below(static_cast<uint32_t>(bound));
  const uint64_t end = UINT64_MAX - UINT64_MAX % bound;  // a multiple: beyond it lies the bias
  uint64_t value = random.next_uint64();
  while (value >= end) value = random.next_uint64();
  return value % bound;
}

// `sums[i]` is the sum of the probabilities up to and with element i; `unit` is in [0, 1). Elements
// of probability 0 have the sum of their predecessor and are never chosen.
inline uint64_t choose_by_sums(const std::vector<double>& sums, double unit) {
  const double target = unit * sums.back();
  const auto found = std::upper_bound(sums.begin(), sums.end(), target);
  if (found != sums.end()) return static_cast<uint64_t>(found - sums.begin());
  // Rounding reached the end: the first element at which the whole sum is there.
  return static_cast<uint64_t>(std::lower_bound(sums.begin(), sums.end(), sums.back()) -
                               sums.begin());
}

}  // namespace dali_core
