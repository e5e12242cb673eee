// Parameters, for one sample, of the kernels that resample.
#pragma once

#include <cstdint>

#include "dali_core/data_type.hpp"
#include "dali_core/kernels/normalize/finished_channel.hpp"
#include "dali_core/kernels/resample/resample_kernels.hpp"
#include "dali_core/kernels/resample/tap_rule.hpp"
#include "dali_core/quick_division.hpp"

namespace dali_core {

// Taps to be filled in. A task has a thread for each output; without `rounded`, weights are float.
struct TapsTask {
  TapRule rule;
  const double* samples;  // of a curved filter
  int64_t base;           // starts are relative to it
  int32_t* starts;
  float* weights;
  int16_t* rounded;
};

// Weights of an axis: output i is the sum over k of weights[k * num_outputs + i] * input[starts[i]
// + k], so that reads are coalesced.
struct DeviceTaps {
  const int32_t* starts;
  const void* weights;  // float, or int16_t in fixed point
  int32_t num_taps;
};

// `num_images` images of the same size. An image lies in the input at
//   (number / depth) * volume_bytes + slices[number % depth] * slice_bytes,
// which is 0, 1, 2 .. where there are no volumes. Strides count elements, if not said otherwise.
struct ResampleSample {
  const void* input;
  void* blended;  // rows after the vertical pass, `blended_stride` elements apart
  void* output;
  const FinishedChannel* finish;  // null: pixels are not normalised
  DeviceTaps rows, columns;
  const int32_t* slices;
  int64_t num_images, depth, volume_bytes, slice_bytes;
  int64_t row_bytes;      // of the input
  int64_t height, width;  // of the output
  int64_t channels, output_channels;
  int64_t first_column, num_columns;  // of the input, those that are read
  int64_t blended_stride;
  int64_t image_stride, row_stride, column_stride, channel_stride;  // of the output
  ResampleArithmetic arithmetic;
  DataType from, resampled, to;
  const void* memory;  // of the whole input
  int64_t memory_bytes;
  QuickDivisor by_height, by_width, by_depth;
  QuickDivisor by_blended;       // groups of blended elements in a row
  QuickDivisor by_pixel_groups;  // groups of pixels in a row of the output
};

// Volumes on their way to images: blended along the depth, in float.
struct DepthSample {
  const void* input;
  float* output;
  DeviceTaps taps;
  int64_t num_volumes, input_depth, depth;
  int64_t slice;  // elements
  DataType from;
};

}  // namespace dali_core
