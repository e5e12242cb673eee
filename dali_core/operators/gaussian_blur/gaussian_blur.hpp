// fn.gaussian_blur: windows and their weights (host loops and device kernels share this).
#pragma once

#include <cmath>
#include <cstdint>

#include "dali_core/host_device.hpp"

namespace dali_core {

// Three standard deviations on both sides.
DC_HOST_DEV int64_t gaussian_window_size(float sigma) {
  return 2 * static_cast<int64_t>(std::ceil(3 * sigma)) + 1;
}

DC_HOST_DEV float gaussian_sigma(int64_t window_size) {
  return (static_cast<float>(window_size - 1) * 0.5f - 1) * 0.3f + 0.8f;
}

// The weight at a distance from the middle, before weights are scaled to sum to 1.
DC_HOST_DEV double gaussian_weight(int64_t distance, float sigma) {
  const double x = static_cast<double>(distance) / sigma;
  return std::exp(-0.5 * x * x);
}

}  // namespace dali_core
