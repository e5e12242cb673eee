// Parameters of mix_colors() and of the kernel of this name for one sample.
#pragma once

#include <cstdint>

#include "dali_core/data_type.hpp"

namespace dali_core {

// A dense run of pixels. Of one channel, a colour is read as three equal ones, and of the result
// only the first is written.
struct MixTask {
  const void* in;
  void* out;
  int64_t pixels;
  DataType from;
  DataType to;
  int8_t input_channels;   // 1 or 3
  int8_t output_channels;  // 1 or 3
  float factors[3][3];
  float offsets[3];
};

}  // namespace dali_core
