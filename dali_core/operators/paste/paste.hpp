// fn.paste: extents of the canvas, and where the image begins.
#pragma once

#include <cstdint>

#include "dali_core/host_device.hpp"

namespace dali_core {

DC_HOST_DEV int64_t canvas_extent(int64_t extent, float ratio, float least) {
  const auto scaled = static_cast<int64_t>(static_cast<float>(extent) * ratio);
  const auto smallest = static_cast<int64_t>(least);
  return scaled > smallest ? scaled : smallest;
}

DC_HOST_DEV int64_t paste_start(int64_t canvas, int64_t extent, float position) {
  return static_cast<int64_t>(position * static_cast<float>(canvas - extent));
}

}  // namespace dali_core
