// Blocks of pixels in the loops of warps. A row of the output is computed in blocks: first the
// positions of its pixels in the input, in full vectors, then the values, pixel by pixel.
#pragma once

#include <algorithm>
#include <cstdint>

#include "dali_core/kernels/warp/warp_image.hpp"

namespace dali_core {

template <int kDims>
struct WarpBlock {
  alignas(64) float coordinates[kDims][kWarpBlock];
  alignas(64) float weights[kDims][kWarpBlock];
  alignas(64) int32_t firsts[kDims][kWarpBlock];
  alignas(64) int32_t offsets[kWarpBlock];  // of the first neighbour, in pixels
  alignas(64) int32_t states[kWarpBlock];
};

enum WarpState : int32_t { kInside = 0, kAtBorder = 1, kOutside = 2 };

// The loops over a block, for one type of input.
template <int kDims>
struct WarpKernels {
  // Offsets of the nearest pixels, or -1 for the fill value.
  void (*find_nearest)(const WarpSource<kDims>& source, int count, WarpBlock<kDims>& block);
  void (*find_neighbours)(const WarpSource<kDims>& source, int count, WarpBlock<kDims>& block);
  void (*blend)(const WarpSource<kDims>& source, float fill, const WarpBlock<kDims>& block,
                int count, float* out);
};

// Blends pixel `i` of a block, which has neighbours outside the image.
template <int kDims, typename T>
[[gnu::noinline]] void blend_at_border(const WarpSource<kDims>& source,
                                       const WarpBlock<kDims>& block, int i, float fill,
                                       float* out) {
  LinearTaps taps[kDims];
  for (int d = 0; d < kDims; ++d) taps[d] = {block.firsts[d][i], block.weights[d][i]};
  const T* const pixels = static_cast<const T*>(source.pixels);
  for (int64_t c = 0; c < source.channels; ++c)
    out[c] = linear_at<kDims>(source, taps, pixels + c, true, fill);
}

}  // namespace dali_core
