// One row of pixels on its way through fn.crop_mirror_normalize: the parameters of its kernels.
#pragma once

#include <cstdint>

#include "dali_core/kernels/normalize/crop_mirror_normalize.hpp"
#include "dali_core/types.hpp"

namespace dali_core {

enum class ChannelOrder {
  kPlanes,     // output pixels of a channel are neighbours
  kPixels,     // output channels of a pixel are neighbours, and pixels follow each other
  kScattered,  // anything else
};

// All rows of a sample have the same form, so this is set up once for it. Strides count elements.
struct NormalizeRow {
  DataType input_type;
  ChannelOrder order;
  int64_t channels;                                  // of the input
  int64_t output_channels;                           // at least as many
  int64_t input_pixel_stride, input_channel_stride;  // the former is negative if mirrored
  int64_t output_pixel_stride, output_channel_stride;
  const ChannelNormalization* rules;  // of the input's channels
  // For kPixels: mean and multiplier of `pattern_length` elements in a row, which are whole pixels,
  // so that the loop over elements need not know the channel.
  const float* pattern_means;
  const float* pattern_multipliers;
  int64_t pattern_length;
  // Room for all elements of a row, and for one pattern.
  float* row_buffer;
  void* stored_buffer;  // the same in the input's type, if that is neither uint8 nor float
  float* pattern_buffer;
};

constexpr int64_t kPixelsInPattern = 64;

// A row in the order of the output, as bytes or as floats.
struct StagedRow {
  const uint8_t* bytes;  // null: the row is in `floats`
  const float* floats;
  int64_t channel_stride;  // for planes
};

}  // namespace dali_core
