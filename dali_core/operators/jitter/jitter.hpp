// fn.jitter: where a pixel comes from.
#pragma once

#include <cmath>
#include <cstdint>

#include "dali_core/host_device.hpp"

namespace dali_core {

// `uniform` is a random number in [0, 1).
DC_HOST_DEV float jittered(int64_t position, float uniform, float degree) {
  return static_cast<float>(position) + (uniform - 0.5f) * degree;
}

DC_HOST_DEV int64_t nearest_pixel(float position) {
  return static_cast<int64_t>(std::floor(position + 0.5f));
}

DC_HOST_DEV float between(float first, float second, float weight) {
  return first + (second - first) * weight;
}

}  // namespace dali_core
