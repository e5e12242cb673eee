// fn.equalize: what each level of a channel becomes.
#pragma once

#include <cstdint>

#include "dali_core/host_device.hpp"
#include "dali_core/quick_division.hpp"

namespace dali_core {

constexpr int kNumLevels = 256;

// Rounds half to even and saturates. Free of calls, so that loops over it vectorise.
DC_HOST_DEV uint8_t nearest_level(float value) {
  value = value < 0.0f ? 0.0f : value > 255.0f ? 255.0f : value;
  // Floats of this size have no fraction, so the addition rounds.
  constexpr float kNoFraction = 8388608.0f;
  return static_cast<uint8_t>(static_cast<int>((value + kNoFraction) - kNoFraction));
}

// `histogram` counts the pixels of each level, `num_pixels` in all.
DC_HOST_DEV void equalizing_levels(const uint32_t* histogram, int64_t num_pixels, uint8_t* levels) {
  int lowest = 0;
  while (lowest < kNumLevels - 1 && histogram[lowest] == 0) ++lowest;
  const int64_t above_lowest = num_pixels - histogram[lowest];
  if (above_lowest == 0) {
    for (int i = 0; i < kNumLevels; ++i) levels[i] = static_cast<uint8_t>(i);
    return;
  }
  const float scale = 255.0f / static_cast<float>(above_lowest);
  for (int i = 0; i <= lowest; ++i) levels[i] = 0;
  int64_t sum = 0;
  for (int i = lowest + 1; i < kNumLevels; ++i) {
    sum += histogram[i];
    levels[i] = nearest_level(static_cast<float>(sum) * scale);
  }
}

// How many channels of interleaved pixels a block of a kernel counts together.
constexpr int kCountedChannels = 4;

// Channels of one and of three bytes repeat after so many bytes, which are whole words.
constexpr int kRepeatedBytes = 12;

// What kernels do for one sample. Parts of an image are counted apart; histograms and levels are
// those of every channel of every image.
struct EqualizeTask {
  const uint8_t* input;
  uint8_t* output;
  uint32_t* histograms;  // for each part
  uint8_t* levels;
  int64_t num_images;
  int64_t num_pixels;  // of an image
  int64_t part;        // pixels of a part
  QuickDivisor channels, parts, image_size;

  int64_t num_elements() const { return num_images * image_size.divisor; }
};

}  // namespace dali_core
