// fn.crop_mirror_normalize: what happens to one element. The host loops, kernels that normalise
// what they just computed, and device kernels share this.
#pragma once

#include <cstdint>

#include "dali_core/host_device.hpp"

namespace dali_core {

// output = (input - mean) * multiplier, for one channel.
struct ChannelNormalization {
  float mean;
  float multiplier;
};

// (input - mean) / std * scale + shift, with the shift moved into the mean: two operations are left
// for each element, and the divisions are here.
DC_HOST_DEV ChannelNormalization channel_normalization(float mean, float std, float scale,
                                                       float shift) {
  const double moved = static_cast<double>(shift) * static_cast<double>(std) / scale;
  return {static_cast<float>(mean - moved), scale / std};
}

// Gives `value` whatever the input is: for channels that only pad.
DC_HOST_DEV ChannelNormalization constant_channel(float value) { return {-value, 1.0f}; }

DC_HOST_DEV float normalize(float value, ChannelNormalization channel) {
  return (value - channel.mean) * channel.multiplier;
}

// Column of the window that lands on an output column.
DC_HOST_DEV int64_t mirrored_column(int64_t column, int64_t width, bool mirror) {
  return mirror ? width - 1 - column : column;
}

// Channels of the output if they are padded to a power of two.
DC_HOST_DEV int64_t padded_channels(int64_t channels) {
  int64_t padded = 1;
  while (padded < channels) padded *= 2;
  return padded;
}

}  // namespace dali_core
