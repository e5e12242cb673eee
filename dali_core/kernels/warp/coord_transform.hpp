// fn.coord_transform: the rule for one component of one point.
#pragma once

#include <cstdint>

#include "dali_core/data_type.hpp"
#include "dali_core/host_device.hpp"
#include "dali_core/quick_division.hpp"

namespace dali_core {

// `row` and `point` have `count` numbers. The order of the sum is fixed, so that all builds give
// the same bits.
template <typename Point>
DC_HOST_DEV float transformed_component(const float* row, const Point& point, int count,
                                        float offset) {
  float sum = count > 0 ? row[0] * point[0] : 0.0f;
  for (int i = 1; i < count; ++i) sum += row[i] * point[i];
  return sum + offset;
}

// What the kernel `transform_points` does for points with one matrix, which has a row for each
// component of the output.
struct PointsTask {
  const void* in;
  void* out;
  DataType from;
  DataType to;
  int64_t count;  // of components of the output
  QuickDivisor rows;
  int columns;
  const float* matrix;  // row by row
  const float* offset;
};

}  // namespace dali_core
