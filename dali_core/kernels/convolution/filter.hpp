// fn.filter: how the sum for one pixel becomes its number (host loops and device kernels share
// this; which pixels are summed is border_place() of dali_core/border.hpp).
#pragma once

#include <limits>

#include "dali_core/host_device.hpp"

namespace dali_core {

// Half to even, unlike convert(): with windows of simple numbers halves are frequent, and images
// are not to become brighter. Adding the number from which on floats have no fraction makes the
// processor round that way.
DC_HOST_DEV float round_half_to_even(float value) {
  constexpr float kNoFraction = 8388608.0f;
  const float magnitude = value < 0 ? -value : value;
  const float rounded = (magnitude + kNoFraction) - kNoFraction;
  const float whole = value < 0 ? -rounded : rounded;
  return magnitude < kNoFraction ? whole : value;
}

// For integers of up to 16 bits: saturates, and gives the float whose last bits are the integer.
template <typename Integer>
DC_HOST_DEV float whole_in_last_bits(float value) {
  constexpr float kLow = static_cast<float>(std::numeric_limits<Integer>::min());
  constexpr float kHigh = static_cast<float>(std::numeric_limits<Integer>::max());
  float within = value == value ? value : 0.0f;
  within = within < kLow ? kLow : within;
  within = within > kHigh ? kHigh : within;
  return within + 12582912.0f;
}

}  // namespace dali_core
