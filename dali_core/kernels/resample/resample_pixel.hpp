// Arithmetic of resampling, element by element: what device kernels do, and what the vectors of the
// host do to many at a time, with the same bits.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "dali_core/convert.hpp"
#include "dali_core/host_device.hpp"
#include "dali_core/kernels/resample/resample_kernels.hpp"

namespace dali_core {

// High half of a product with rounding, the way of the multiply instructions of 16-bit vectors.
DC_HOST_DEV int16_t multiply_round(int16_t a, int16_t b) {
  return static_cast<int16_t>((((static_cast<int32_t>(a) * b) >> 14) + 1) >> 1);
}

// What a byte adds to a sum of the vertical pass: multiply_round(value << 7, weight).
DC_HOST_DEV int32_t weighted_byte(int32_t value, int32_t weight) {
  return (value * weight + 128) >> 8;
}

constexpr int kFixedShift = kResampleWeightBits + kResampleRowBits;

// The pixel of a sum of the horizontal pass, which began with fixed_half().
DC_HOST_DEV int32_t fixed_half() { return 1 << (kFixedShift - 1); }
DC_HOST_DEV uint8_t fixed_pixel(int32_t sum) {
  sum >>= kFixedShift;
  return static_cast<uint8_t>(sum < 0 ? 0 : sum > 255 ? 255 : sum);
}

// Rounds half away from zero, and saturates.
template <typename T>
DC_HOST_DEV T round_resampled(float value) {
  if constexpr (std::is_same_v<T, uint8_t> || std::is_same_v<T, int16_t> ||
                std::is_same_v<T, uint16_t>) {
    constexpr float kLow = static_cast<float>(std::numeric_limits<T>::min());
    constexpr float kHigh = static_cast<float>(std::numeric_limits<T>::max());
    // In this order a NaN becomes the lower limit.
    value = value > kLow ? value : kLow;
    value = value < kHigh ? value : kHigh;
    return static_cast<T>(static_cast<int32_t>(value + copysignf(0.5f, value)));
  } else {
    return convert<T>(value);
  }
}

}  // namespace dali_core
