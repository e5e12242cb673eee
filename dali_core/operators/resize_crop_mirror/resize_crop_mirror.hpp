// fn.resize_crop_mirror: which part of a resized axis is made, and in which order.
#pragma once

#include <cstdint>

#include "dali_core/resample.hpp"

namespace dali_core {

// Makes `extent` outputs from `first` on, where `axis` would make all of them.
inline void choose_outputs(ResampleAxis& axis, int64_t first, int64_t extent, bool mirror) {
  axis.reverse = mirror;
  if (first >= 0 && first + extent <= axis.output_size) {
    axis.first_output = first;
    axis.num_outputs = extent;
    return;
  }
  // Some of them lie beside the output: resize a larger region, at the same scale.
  const float scale = (axis.end - axis.begin) / static_cast<float>(axis.output_size);
  axis.end = axis.begin + scale * static_cast<float>(first + extent);
  axis.begin += scale * static_cast<float>(first);
  axis.output_size = extent;
}

}  // namespace dali_core
