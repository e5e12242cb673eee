// fn.sphere: where the centre of a pixel lies in the input.
#pragma once

#include <cmath>
#include <cstdint>

#include "dali_core/host_device.hpp"

namespace dali_core {

struct Sphere {
  float centre_x, centre_y;
  float radius;
};

DC_HOST_DEV Sphere sphere_of(int32_t width, int32_t height) {
  return {static_cast<float>(width) / 2, static_cast<float>(height) / 2,
          static_cast<float>((width > height ? width : height) / 2)};
}

// Distances from the centre, in units of the radius, become their squares.
DC_HOST_DEV void sphere_coordinates(const Sphere& sphere, int32_t x, int32_t y, float& source_x,
                                    float& source_y) {
  const float right = static_cast<float>(x) + 0.5f - sphere.centre_x;
  const float down = static_cast<float>(y) + 0.5f - sphere.centre_y;
  const float scale = sqrtf(right * right + down * down) / sphere.radius;
  source_x = sphere.centre_x + right * scale;
  source_y = sphere.centre_y + down * scale;
}

}  // namespace dali_core
