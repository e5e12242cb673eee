// fn.grid_mask: whether a pixel lies in a square of the grid.
#pragma once

#include <cmath>

#include "dali_core/host_device.hpp"

namespace dali_core {

// All lengths are in units of a tile.
struct Grid {
  float cosine;
  float sine;
  float shift_x;
  float shift_y;
  float ratio;
};

inline Grid make_grid(float angle, float shift_x, float shift_y, float tile, float ratio) {
  return {std::cos(angle) / tile, std::sin(angle) / tile, shift_x / tile, shift_y / tile, ratio};
}

DC_HOST_DEV float fraction_above_floor(float value) { return value - std::floor(value); }

DC_HOST_DEV bool is_masked(float x, float y, const Grid& grid) {
  const float across = x * grid.cosine - y * grid.sine - grid.shift_x;
  const float down = x * grid.sine + y * grid.cosine - grid.shift_y;
  return (fraction_above_floor(across) < grid.ratio) & (fraction_above_floor(down) < grid.ratio);
}

}  // namespace dali_core
