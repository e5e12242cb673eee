// Parameters of the kernel `gather_elements` for one sample: the place of every unit of the output
// in the input, by strides. Units are elements, or contiguous pieces, of 1, 2, 4, 8 or 16 bytes.
#pragma once

#include <cstdint>

#include "dali_core/quick_division.hpp"

namespace dali_core {

constexpr int kMaxGatherDims = 9;

struct GatherTask {
  const void* in;
  void* out;
  int64_t count;  // of units in the output
  int unit_bytes;
  int num_dims;  // of the output; at least 1
  QuickDivisor extents[kMaxGatherDims];
  int64_t strides[kMaxGatherDims];  // of the input, in bytes; any sign
};

}  // namespace dali_core
