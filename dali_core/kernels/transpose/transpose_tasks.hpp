// Parameters of the kernels of fn.transpose for one sample: planes, in each of which units that are
// neighbours along a row of the output are neighbours along a column of the input.
#pragma once

#include <cstdint>

#include "dali_core/quick_division.hpp"

namespace dali_core {

constexpr int kMaxPlaneDims = 6;

// Position (row, column) of a plane is at row * unit_bytes + column * input_stride in the input,
// and at row * output_stride + column * unit_bytes in the output. All distances are in bytes.
struct PlaneTask {
  const void* in;
  void* out;
  int64_t planes;
  int64_t rows;
  int64_t columns;
  int64_t input_stride;
  int64_t output_stride;
  int unit_bytes;
  int num_dims;  // along which there are planes
  QuickDivisor extents[kMaxPlaneDims];
  int64_t input_strides[kMaxPlaneDims];
  int64_t output_strides[kMaxPlaneDims];
  // How planes are divided: into tiles, or along their long side into groups.
  QuickDivisor down;
  QuickDivisor across;
};

constexpr int kTileThreads = 256;

// Units along a side of a tile. Narrow ones need more of them to fill a cache line.
DC_HOST_DEV int tile_side(int64_t unit_bytes) { return unit_bytes < 4 ? 64 : 32; }

}  // namespace dali_core
