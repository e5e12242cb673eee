// What the kernels `warp_images` and `warp_volumes` do for one frame.
#pragma once

#include <cstdint>

#include "dali_core/data_type.hpp"
#include "dali_core/kernels/warp/warp.hpp"
#include "dali_core/quick_division.hpp"

namespace dali_core {

template <int kDims>
struct AffineTask {
  WarpSource<kDims> source;
  WarpMap<kDims> map;
  void* output;
  int64_t pixels;  // of the output
  QuickDivisor width, height;
  DataType input_type;
  DataType output_type;
  bool nearest;
  float fill_value;
};

}  // namespace dali_core
