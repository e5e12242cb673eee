// The size of the canvas that a rotated image fits in.
#pragma once

#include <cmath>
#include <cstdint>

#include "dali_core/kernels/warp/affine.hpp"

namespace dali_core {

// The extents in which all of a rotated image fits, in the order x, y, z, and whether they should
// be odd.
struct RotatedExtents {
  int64_t extent[3] = {1, 1, 1};
  bool odd[3] = {};
};

// A canvas that is odd where the image is, and even where it is, has the centres of pixels where
// the image has them, so that rotations by a multiple of 90 degrees only move pixels. Where an
// axis of the image comes to lie between two axes of the canvas, the nearer one counts.
inline RotatedExtents rotated_extents(const AffineTransform& rotation, const int64_t* extent) {
  constexpr double kTolerance = 0.01;  // of a pixel that may be cut off
  // Axes of a volume that are equally near but for rounding stay where they are, as in NVIDIA DALI.
  const double margin = rotation.ndim == 2 ? 0 : 1e-6;
  RotatedExtents result;
  for (int row = 0; row < rotation.ndim; ++row) {
    double reach = 0;
    int nearest = row;
    for (int column = 0; column < rotation.ndim; ++column) {
      const double share = std::fabs(rotation.matrix[row][column]);
      reach += share * static_cast<double>(extent[column]);
      if (share > std::fabs(rotation.matrix[row][nearest]) + margin) nearest = column;
    }
    result.extent[row] = static_cast<int64_t>(std::ceil(reach - kTolerance));
    result.odd[row] = extent[nearest] % 2 != 0;
  }
  return result;
}

// That canvas, with a side more where that makes it odd or even as it should be.
inline int64_t canvas_extent(const RotatedExtents& rotated, int dim) {
  return rotated.extent[dim] + ((rotated.extent[dim] % 2 != 0) != rotated.odd[dim]);
}

}  // namespace dali_core
