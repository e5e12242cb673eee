// Which elements of a tensor an expression like x[1:3, ..., 0] means.
#pragma once

#include <cstdint>

#include "dali_core/host_device.hpp"

namespace dali_core {

// Elements along one dimension: `count` of them, from `start` on, `step` apart.
struct Selection {
  int64_t start = 0;
  int64_t step = 1;
  int64_t count = 0;
};

// A bound of a slice, as Python reads it: negative ones count from the end, and those beyond the
// ends become the nearest place where the slice is empty or complete.
DC_HOST_DEV int64_t clipped_bound(int64_t bound, int64_t extent, bool is_backwards) {
  const int64_t lowest = is_backwards ? -1 : 0;
  const int64_t highest = is_backwards ? extent - 1 : extent;
  if (bound < 0) bound = bound < -extent ? lowest : bound + extent;
  return bound < lowest ? lowest : bound > highest ? highest : bound;
}

// `step` is not zero. A bound that is not given lies at the end that the step comes from or goes
// to.
DC_HOST_DEV Selection slice_of(const int64_t* begin, const int64_t* end, int64_t step,
                               int64_t extent) {
  const bool is_backwards = step < 0;
  const int64_t first = begin != nullptr ? clipped_bound(*begin, extent, is_backwards)
                        : is_backwards   ? extent - 1
                                         : 0;
  const int64_t last = end != nullptr ? clipped_bound(*end, extent, is_backwards)
                       : is_backwards ? -1
                                      : extent;
  const int64_t distance = is_backwards ? first - last : last - first;
  Selection selection;
  selection.start = first;
  selection.step = step;
  if (distance > 0) {
    // Without a sign there is room for the size of every step.
    const uint64_t size =
        is_backwards ? uint64_t{0} - static_cast<uint64_t>(step) : static_cast<uint64_t>(step);
    selection.count = static_cast<int64_t>((static_cast<uint64_t>(distance) - 1) / size) + 1;
  }
  if (selection.count < 2) selection.step = 1;  // so that nothing overflows on the way to nowhere
  return selection;
}

}  // namespace dali_core
