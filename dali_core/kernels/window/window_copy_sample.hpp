// Parameters, for one sample, of the kernels that copy windows, and the place of each element of
// the input in the output (the host plans with the same structures).
#pragma once

#include <cstdint>

#include "dali_core/data_type.hpp"
#include "dali_core/host_device.hpp"
#include "dali_core/kernels/window/window_rule.hpp"
#include "dali_core/quick_division.hpp"

namespace dali_core {

// One axis of a window. Positions of the window are those of the output.
struct WindowAxis {
  int64_t extent;  // of the window
  int64_t start;   // in the input; may be outside
  int64_t source_extent;
  int64_t stride;  // of the input, in elements
  bool mirrored;

  // Position in the input; it may be outside.
  DC_HOST_DEV int64_t source(int64_t position) const {
    return window_source(mirrored ? extent - 1 - position : position, start);
  }
  DC_HOST_DEV bool has(int64_t source) const { return source >= 0 && source < source_extent; }
};

constexpr int kMaxWindowAxes = 8;

// A window as the kernels see it: axes that lie next to each other in memory are one axis. The last
// axis has `inner` elements at each position.
struct WindowCopySample {
  const void* input;
  void* output;
  int64_t num_elements;  // of the output
  int64_t inner;
  const uint64_t* fill;  // in the output's type, for each channel or one for all
  int64_t num_fill;
  int64_t channel_stride;  // elements of the output that have the same fill value
  int32_t num_axes;
  OutOfBounds policy;
  DataType from, to;
  WindowAxis axes[kMaxWindowAxes];
  QuickDivisor extents[kMaxWindowAxes];  // of the window
  // The last axis, and one position of it, in bytes of the input's type.
  QuickDivisor line_bytes, pixel_bytes;
  int64_t input_bytes;
};

}  // namespace dali_core
