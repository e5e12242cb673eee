// fn.coord_transform: the rule for one component of one point.
#pragma once

#include "dali_core/host_device.hpp"

namespace dali_core {

// `row` and `point` have `count` numbers. The order of the sum is fixed, so that all builds give
// the same bits.
DC_HOST_DEV float transformed_component(const float* row, const float* point, int count,
                                        float offset) {
  float sum = count > 0 ? row[0] * point[0] : 0.0f;
  for (int i = 1; i < count; ++i) sum += row[i] * point[i];
  return sum + offset;
}

}  // namespace dali_core
