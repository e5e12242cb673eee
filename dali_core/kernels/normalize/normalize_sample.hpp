// Parameters, for one sample, of the kernel that normalises images.
#pragma once

#include <cstdint>

#include "dali_core/data_type.hpp"
#include "dali_core/kernels/normalize/finished_channel.hpp"
#include "dali_core/kernels/window/window_copy_sample.hpp"
#include "dali_core/quick_division.hpp"

namespace dali_core {

constexpr int kMaxOuterAxes = kMaxWindowAxes - 1;

// Columns and channels, and outer axes in the order of the output. Strides count elements.
struct NormalizeSample {
  const void* input;
  void* output;
  const FinishedChannel* channels;  // of the output
  int64_t num_pixels;               // of the output
  int64_t input_channels, output_channels;
  int64_t input_channel_stride, output_channel_stride;
  WindowAxis columns;
  int64_t column_stride;  // of the output
  WindowAxis outer[kMaxOuterAxes];
  int64_t outer_strides[kMaxOuterAxes];  // of the output
  QuickDivisor outer_extents[kMaxOuterAxes];
  QuickDivisor groups;  // that a row has, of kGroup pixels
  int64_t rows;         // of the output
  int64_t input_bytes;
  int32_t num_outer;
  DataType from, to;
};

}  // namespace dali_core
