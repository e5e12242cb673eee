// fn.random.choice: which element a random number chooses.
#pragma once

#include <cstdint>

#include "dali_core/data_type.hpp"
#include "dali_core/host_device.hpp"
#include "dali_core/philox.hpp"

namespace dali_core {

// Uniform in {0, ..., bound - 1}, without bias, for bounds beyond 32 bits as well.
DC_HOST_DEV uint64_t choose_below(RandomStream& random, uint64_t bound) {
  constexpr uint64_t kLargest = ~uint64_t{0};
  if (bound <= 0xFFFFFFFFu) return random.next_below(static_cast<uint32_t>(bound));
  const uint64_t end = kLargest - kLargest % bound;  // a multiple: beyond it lies the bias
  uint64_t value = random.next_uint64();
  while (value >= end) value = random.next_uint64();
  return value % bound;
}

// The first of `count` sums in ascending order that is above `target`, or reaches it; `count` if
// there is none.
DC_HOST_DEV uint64_t first_sum(const double* sums, uint64_t count, double target, bool above) {
  uint64_t low = 0;
  while (count > 0) {
    const uint64_t half = count / 2;
    const double sum = sums[low + half];
    if (above ? sum > target : sum >= target) {
      count = half;
    } else {
      low += half + 1;
      count -= half + 1;
    }
  }
  return low;
}

// `sums[i]` is the sum of the probabilities up to and with element i; `unit` is in [0, 1). Elements
// of probability 0 have the sum of their predecessor and are never chosen.
DC_HOST_DEV uint64_t choose_by_sums(const double* sums, uint64_t count, double unit) {
  const double whole = sums[count - 1];
  const uint64_t found = first_sum(sums, count, unit * whole, true);
  // Where rounding reached the end: the first element at which the whole sum is there.
  return found < count ? found : first_sum(sums, count, whole, false);
}

// What the kernel `choose` does for one sample: it writes the numbers of what was chosen.
struct ChoiceTask {
  int64_t* chosen;
  const double* sums;  // as many as there are choices, or none
  int* has_rejected;   // is 1 if choosing in parallel is not what choosing one by one is
  int64_t count;
  uint64_t num_choices;  // 0 if `bound` has it
  const void* bound;
  DataType bound_type;
  uint64_t seed;
  SampleKey key;
};

// What the kernel `copy_chosen` does for one sample: slices consist of units of some bytes.
struct ChosenCopy {
  const void* in;
  void* out;
  const int64_t* chosen;
  int64_t count;  // of units in the output
  int64_t units_of_slice;
  int unit_bytes;
};

}  // namespace dali_core
