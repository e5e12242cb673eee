// Perspective warps: maps output pixels to input coordinates, and samples the input there.
#pragma once

#include <cstdint>

#include "dali_core/data_type.hpp"
#include "dali_core/kernels/convolution/border.hpp"

namespace dali_core {

enum class PerspectiveFilter { kNearest, kLinear, kCubic };

// From homogeneous coordinates in the output to those in the input, row by row; points are (x, y).
struct PerspectiveMatrix {
  double m[3][3];

  // Throws std::invalid_argument if there is none.
  PerspectiveMatrix inverse() const;
};

// One image with interleaved channels. Pixels count from 0; `origin` is the coordinate of their
// centres within a pixel.
struct PerspectiveTask {
  const void* input;
  void* output;
  DataType type;
  int64_t height, width, channels;  // of the input
  int64_t output_height, output_width;
  PerspectiveMatrix matrix;
  double origin;
  PerspectiveFilter filter;
  Border border;
  const float* fill;  // for each channel, with Border::kConstant
};

// Computes an image of uint8, uint16, int16 or float32, which has pixels unless the border is
// constant.
void warp_perspective(const PerspectiveTask& task);

}  // namespace dali_core
