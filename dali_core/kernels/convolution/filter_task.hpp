// Parameters of the kernel `filter_images` for one sample, or for planes of it that have one
// filter.
#pragma once

#include <cstdint>

#include "dali_core/data_type.hpp"
#include "dali_core/kernels/convolution/border.hpp"
#include "dali_core/quick_division.hpp"

namespace dali_core {

// A thread makes this many pixels of a row.
constexpr int kFilteredPixels = 4;

// Whether it makes all channels of them. Types that the kernel has no code of its own for go one by
// one.
inline bool filters_pixels(int64_t channels, DataType from) {
  return channels == 3 && (from == DataType::kUInt8 || from == DataType::kFloat);
}

// Extents are those of depth, height and width.
struct FilterTask {
  const void* input;
  void* output;
  const float* weights;
  const void* fill;  // the number outside, on the device; null for 0
  int64_t planes;
  int64_t extents[3];  // of the input
  int64_t window[3];
  int64_t anchor[3];  // 0 where all places lie within the image
  int64_t channels;
  int64_t output_width;
  Border border;
  DataType from;
  DataType to;
  DataType fill_type;
  QuickDivisor depth, height;  // of the output
  QuickDivisor groups, channel_groups;

  int64_t items() const {
    return planes * depth.divisor * height.divisor * groups.divisor * channel_groups.divisor;
  }
};

}  // namespace dali_core
