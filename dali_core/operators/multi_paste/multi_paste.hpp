// fn.multi_paste: how relative coordinates become pixels.
#pragma once

#include <cmath>
#include <cstdint>

#include "dali_core/host_device.hpp"

namespace dali_core {

DC_HOST_DEV int64_t relative_anchor(float position, int64_t extent) {
  return static_cast<int64_t>(std::floor(position * static_cast<float>(extent)));
}

DC_HOST_DEV int64_t relative_extent(float share, int64_t extent) {
  return static_cast<int64_t>(std::ceil(share * static_cast<float>(extent)));
}

}  // namespace dali_core
