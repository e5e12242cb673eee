// fn.water: how far from a pixel's corner its value is taken.
#pragma once

#include <cmath>
#include <cstdint>

#include "dali_core/host_device.hpp"

namespace dali_core {

struct Wave {
  float amplitude;
  float frequency;  // radians per pixel
  float phase;      // radians
};

// Shift along x of row `y`.
DC_HOST_DEV float shift_of_row(const Wave& wave, int32_t y) {
  return wave.amplitude * sinf(wave.frequency * static_cast<float>(y) + wave.phase);
}

// Shift along y of column `x`.
DC_HOST_DEV float shift_of_column(const Wave& wave, int32_t x) {
  return wave.amplitude * cosf(wave.frequency * static_cast<float>(x) + wave.phase);
}

}  // namespace dali_core
