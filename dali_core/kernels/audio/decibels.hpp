// Ratios on a logarithmic scale: the rule for one number, which host loops and device kernels
// share.
#pragma once

#include <cstdint>
#include <cstring>

#include "dali_core/host_device.hpp"
#include "dali_core/kernels/exponential/exponential.hpp"

namespace dali_core {

struct DecibelRule {
  float multiplier;  // of the decimal logarithm
  float reference;   // what 0 dB is; 0: the largest number
  float least;       // ratio; smaller ones, and what is not a number, are as this one

  // Whether only normal numbers have their logarithm taken.
  DC_HOST_DEV bool is_normal() const { return least >= 0x1p-126f; }
};

constexpr double kLogTen = 2.302585092994045684;
constexpr float kLargestFloat = 0x1.fffffep127f;

// The natural logarithm of a normal positive number, to 2 units in the last place: the number is
// 2 ** exponent * (1 + x), 1 / sqrt(2) <= 1 + x < sqrt(2), and
// log(1 + x) = 2 artanh(s), s = x / (2 + x), is a short series in s ** 2.
DC_HOST_DEV float logarithm_of_normal(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  const uint32_t above = bits - 0x3f3504f3u;
  const int32_t exponent = static_cast<int32_t>(above) >> 23;
  const uint32_t reduced = (above & 0x007fffffu) + 0x3f3504f3u;
  float mantissa;
  std::memcpy(&mantissa, &reduced, sizeof mantissa);
  const float x = mantissa - 1;
  const float s = x / (2 + x);
  const float square = s * s;
  const float series =
      2 * s * square * (1.0f / 3 + square * (1.0f / 5 + square * (1.0f / 7 + square * (1.0f / 9))));
  // 2 s is x - s x, whose first term is exact.
  return static_cast<float>(exponent) * 0.693147180559945f + (x - (s * x - series));
}

// Where numbers are normal; `scale` is that of a natural logarithm.
DC_HOST_DEV float decibels_of_normal(float ratio, float least, float multiplier, float scale) {
  const float bounded = ratio > least ? ratio : least;
  const float result = logarithm_of_normal(bounded) * scale;
  return bounded <= kLargestFloat ? result : bounded * multiplier;
}

DC_HOST_DEV float decibels_of_any(float ratio, float least, float multiplier) {
  const float bounded = ratio > least ? ratio : least;
  return multiplier * static_cast<float>(natural_logarithm(bounded) / kLogTen);
}

// What the kernels `find_largest` and `convert_to_decibels` do for one sample.
struct DecibelTask {
  const float* in;
  float* out;
  int64_t count;
  DecibelRule rule;
  float scale;
  float* largest;  // null if there is a reference
};

constexpr int kLargestThreads = 256;

DC_HOST_DEV float natural_scale(const DecibelRule& rule) {
  return static_cast<float>(rule.multiplier / kLogTen);
}

void convert_to_decibels(const DecibelRule& rule, const float* in, float* out, int64_t count);

}  // namespace dali_core
