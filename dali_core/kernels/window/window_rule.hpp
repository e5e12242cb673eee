// The element of a tensor that a window shows, and the padding beside the tensor (host loops and
// device kernels share this).
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "dali_core/convert.hpp"
#include "dali_core/host_device.hpp"

namespace dali_core {

// Position along one dimension in the input; outside of it lies padding.
DC_HOST_DEV int64_t window_source(int64_t position, int64_t window_start) {
  return position + window_start;
}

// Windows drop the fraction where casting rounds, and keep halves finite.
template <typename To, typename From>
DC_HOST_DEV To window_convert(From value) {
  if constexpr (std::is_same_v<To, From>) {
    return value;
  } else if constexpr (std::is_same_v<From, Half>) {
    return window_convert<To>(to_float(value));
  } else if constexpr (std::is_same_v<To, Half>) {
    float number = static_cast<float>(value);
    number = number > 65504.0f ? 65504.0f : number;
    number = number < -65504.0f ? -65504.0f : number;
    return to_half(number);
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    return convert<To>(std::trunc(value));
  } else {
    return convert<To>(value);
  }
}

// What lies beside the input: nothing (an error, or trimmed away), a value, or the input again.
enum class OutOfBounds { kError, kTrim, kPad, kEdge, kReflect, kReflect101, kWrap };

DC_HOST_DEV bool repeats_input(OutOfBounds policy) { return policy >= OutOfBounds::kEdge; }

// Position inside the input that a position beside it repeats. `extent` is above 0.
DC_HOST_DEV int64_t repeated_source(int64_t position, int64_t extent, OutOfBounds policy) {
  if (policy == OutOfBounds::kEdge || extent == 1)
    return position < 0 ? 0 : position >= extent ? extent - 1 : position;
  const int64_t period = policy == OutOfBounds::kWrap      ? extent
                         : policy == OutOfBounds::kReflect ? 2 * extent
                                                           : 2 * extent - 2;
  position %= period;
  if (position < 0) position += period;
  if (position < extent) return position;
  return policy == OutOfBounds::kReflect ? period - 1 - position : period - position;
}

}  // namespace dali_core
