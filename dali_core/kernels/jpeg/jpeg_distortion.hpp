// Parameters and arithmetic of the kernels of fn.jpeg_compression_distortion for one image; the
// rules are those of jpeg_rules.hpp.
#pragma once

#include <cstdint>

#include "dali_core/host_device.hpp"
#include "dali_core/kernels/jpeg/jpeg_rules.hpp"
#include "dali_core/quick_division.hpp"

namespace dali_core {

// A plane in whole blocks.
struct JpegPlane {
  uint8_t* samples;
  int64_t width;  // with padding
  int64_t num_blocks;
  QuickDivisor blocks_in_row;
  const int32_t* steps;  // of the coefficients, row by row
};

// RGB pixels; luma, and chroma of half the resolution.
struct JpegDistortionTask {
  const uint8_t* in;
  uint8_t* out;
  int64_t height;
  QuickDivisor width;
  JpegPlane luma;
  JpegPlane chroma[2];
};

// Rounds the coefficients of a block, row by row.
DC_HOST_DEV void distort_block(int32_t* block, const int32_t* steps) {
  int32_t v[kBlock];
  // Forward along rows first, back along columns first: the order decides how they round.
#pragma unroll
  for (int pass = 0; pass < 4; ++pass) {
    const bool is_row = pass == 0 || pass == 3;
    const int step = is_row ? 1 : kBlock;
#pragma unroll
    for (int line = 0; line < kBlock; ++line) {
      int32_t* const first = block + line * (is_row ? kBlock : 1);
#pragma unroll
      for (int i = 0; i < kBlock; ++i) v[i] = first[i * step];
      if (pass < 2)
        forward_dct(v, pass == 0);
      else
        inverse_dct(v, pass == 2);
#pragma unroll
      for (int i = 0; i < kBlock; ++i) first[i * step] = v[i];
    }
    if (pass == 1)
#pragma unroll
      for (int i = 0; i < kBlock * kBlock; ++i)
        block[i] = quantized(block[i], 8 * steps[i]) * steps[i];
  }
}

}  // namespace dali_core
