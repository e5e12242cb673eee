// What the kernel `mix_colors` does for one sample: see ColorRun.
#pragma once

#include <cstdint>

#include "dali_core/data_type.hpp"

namespace dali_core {

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
