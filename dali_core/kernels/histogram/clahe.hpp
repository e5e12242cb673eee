// fn.clahe: what the levels of a tile become, and how four tiles mix.
#pragma once

#include <cmath>
#include <cstdint>

#include "dali_core/kernels/histogram/equalize.hpp"

namespace dali_core {

// Limits the counts of a histogram and spreads what is cut off over all levels.
DC_HOST_DEV void limit_histogram(uint32_t* histogram, uint32_t limit) {
  uint32_t excess = 0;
  for (int i = 0; i < kNumLevels; ++i) {
    if (histogram[i] <= limit) continue;
    excess += histogram[i] - limit;
    histogram[i] = limit;
  }
  for (int i = 0; i < kNumLevels; ++i) histogram[i] += excess / kNumLevels;
  const uint32_t rest = excess % kNumLevels;
  if (rest == 0) return;
  const uint32_t step = kNumLevels / rest;
  for (uint32_t i = 0; i < rest; ++i) ++histogram[i * step];
}

// Levels become 255 times the share of pixels that are not above them.
DC_HOST_DEV void tile_levels(const uint32_t* histogram, int64_t num_pixels, float* levels) {
  const float scale = 255.0f / static_cast<float>(num_pixels);
  uint32_t sum = 0;
  for (int i = 0; i < kNumLevels; ++i) {
    sum += histogram[i];
    levels[i] = static_cast<float>(nearest_level(static_cast<float>(sum) * scale));
  }
}

// Which two tiles a position along one dimension lies between, and the weight of the second.
struct TileMix {
  int first;
  int second;
  float weight;
};

DC_HOST_DEV TileMix tile_mix(int64_t position, float tiles_per_pixel, int num_tiles) {
  const float middle = static_cast<float>(position) * tiles_per_pixel - 0.5f;
  const int first = static_cast<int>(std::floor(middle));
  TileMix mix = {first, first + 1, middle - static_cast<float>(first)};
  if (mix.first < 0) mix.first = 0;
  if (mix.second > num_tiles - 1) mix.second = num_tiles - 1;
  return mix;
}

DC_HOST_DEV uint8_t mix_tiles(float upper_left, float upper_right, float lower_left,
                              float lower_right, float weight_right, float weight_lower) {
  const float weight_left = 1.0f - weight_right;
  const float upper = upper_left * weight_left + upper_right * weight_right;
  const float lower = lower_left * weight_left + lower_right * weight_right;
  return nearest_level(upper * (1.0f - weight_lower) + lower * weight_lower);
}

}  // namespace dali_core
