// fn.noise.gaussian: how random bits become numbers of normal distribution, and noise.
//
// Arithmetic only, without calls: loops over these rules vectorise, and give the same bits on all
// processors. Box, Muller: "A note on the generation of random normal deviates", Annals of
// Mathematical Statistics 29 (1958).
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "dali_core/host_device.hpp"

namespace dali_core {

struct NormalFloats {
  float first, second;
};

// The natural logarithm of (bits + 1/2) / 2^32, at most 2e-7 beside it.
DC_HOST_DEV float log_of_unit(uint32_t bits) {
  // Of the signed number, since processors convert that in one step. Above 2^24 the half is lost.
  const float high = static_cast<float>(static_cast<int32_t>(bits >> 8)) * 256.0f;
  const float low = static_cast<float>(static_cast<int32_t>(bits & 255)) + 0.5f;
  const float value = high + low;
  int32_t pattern;
  std::memcpy(&pattern, &value, sizeof pattern);
  // value = mantissa * 2^exponent, with a mantissa from sqrt(1/2) to sqrt(2).
  const int32_t offset = pattern - 0x3f3504f3;
  const int32_t exponent = offset >> 23;
  pattern -= exponent * (1 << 23);
  float mantissa;
  std::memcpy(&mantissa, &pattern, sizeof mantissa);
  // log(m) = 2 artanh((m - 1) / (m + 1)), as a series.
  const float s = (mantissa - 1.0f) / (mantissa + 1.0f);
  const float q = s * s;
  const float series =
      1.0f + q * (1.0f / 3 + q * (1.0f / 5 + q * (1.0f / 7 + q * (1.0f / 9 + q * (1.0f / 11)))));
  return static_cast<float>(exponent - 32) * 0.69314718056f + 2.0f * s * series;
}

// Mean 0, standard deviation 1, at most 6.7 standard deviations away.
DC_HOST_DEV NormalFloats normal_floats(uint32_t radius_bits, uint32_t angle_bits) {
  const float logarithm = log_of_unit(radius_bits);
  // Rounding makes 1 of the largest numbers: their radius is 0.
  const float radius = std::sqrt(logarithm < 0.0f ? -2.0f * logarithm : 0.0f);
  // The two highest bits are the quadrant, the others the angle in it, from -pi/4 to pi/4.
  const int32_t within = static_cast<int32_t>(angle_bits << 2) >> 8;
  const float x = static_cast<float>(within) * (1.57079632679f / 16777216.0f);
  const float q = x * x;
  const float sine =
      x * (1.0f - q * (1.0f / 6 - q * (1.0f / 120 - q * (1.0f / 5040 - q * (1.0f / 362880)))));
  const float cosine =
      1.0f - q * (1.0f / 2 - q * (1.0f / 24 - q * (1.0f / 720 - q * (1.0f / 40320))));
  const bool swaps = (angle_bits >> 30) & 1;
  const bool negates = angle_bits >> 31;
  const float signed_radius = negates ? -radius : radius;
  return {signed_radius * (swaps ? -sine : cosine), signed_radius * (swaps ? cosine : sine)};
}

template <typename Number>
DC_HOST_DEV Number with_noise(Number element, float normal, float mean, float stddev) {
  return element + static_cast<Number>(mean + stddev * normal);
}

}  // namespace dali_core
