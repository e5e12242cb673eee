// Ratios on a logarithmic scale.
#pragma once

#include <cstdint>

namespace dali_core {

struct DecibelRule {
  float multiplier;  // of the decimal logarithm
  float reference;   // what 0 dB is; 0: the largest number
  float least;       // ratio; smaller ones, and what is not a number, are as this one
};

void convert_to_decibels(const DecibelRule& rule, const float* in, float* out, int64_t count);

}  // namespace dali_core
