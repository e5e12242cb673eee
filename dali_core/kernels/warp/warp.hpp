// The rule by which an output pixel of a warp finds its value in the input. Host loops and device
// kernels share it.
//
// Coordinates are in the order x, y, z and count from the outer edge of the first pixel, so that
// the centre of pixel i lies at i + 0.5.
#pragma once

#include <cstdint>

#include "dali_core/host_device.hpp"

namespace dali_core {

// From coordinates in the output to coordinates in the input: [M T], row by row.
template <int kDims>
struct WarpMap {
  float rows[kDims][kDims + 1];
};

// What to read from: one image or volume, with interleaved channels.
template <int kDims>
struct WarpSource {
  const void* pixels;
  int32_t extent[kDims];
  int32_t stride[kDims];  // in pixels
  int64_t channels;
  bool repeats_border;  // or else a fill value lies around
};

// The part of a mapped coordinate that all pixels of a row of the output have in common;
// `position` is one of them.
template <int kDims>
DC_HOST_DEV float row_offset(const float (&row)[kDims + 1], const int32_t* position) {
  float offset = row[kDims];
  for (int i = kDims - 1; i > 0; --i) offset += row[i] * (static_cast<float>(position[i]) + 0.5f);
  return offset;
}

DC_HOST_DEV float mapped_coordinate(float factor, float offset, int32_t x) {
  return factor * (static_cast<float>(x) + 0.5f) + offset;
}

// The nearest coordinate that is at most one pixel outside; NaN is before the first pixel.
DC_HOST_DEV float near_image(float coordinate, int32_t extent) {
  const float end = static_cast<float>(extent);
  coordinate = coordinate > -1.0f ? coordinate : -1.0f;
  return coordinate < end ? coordinate : end;
}

DC_HOST_DEV int32_t round_down(float value) {
  const int32_t towards_zero = static_cast<int32_t>(value);
  return towards_zero - (value < static_cast<float>(towards_zero) ? 1 : 0);
}

DC_HOST_DEV int32_t repeated_border(int32_t index, int32_t extent) {
  index = index < extent ? index : extent - 1;
  return index > 0 ? index : 0;
}

// The pixel that a coordinate lies in; -1 or `extent` for all that are outside.
DC_HOST_DEV int32_t nearest_pixel(float coordinate, int32_t extent) {
  return round_down(near_image(coordinate, extent));
}

// A coordinate counted from the centre of the first pixel. At most -1 or at least `extent` if it is
// not between two pixels of which one is in the image.
DC_HOST_DEV float linear_coordinate(float coordinate, int32_t extent) {
  return near_image(coordinate - 0.5f, extent);
}

// Two neighbours between whose centres a coordinate lies, and the weight of the second.
struct LinearTaps {
  int32_t first;
  float weight;
};

DC_HOST_DEV LinearTaps linear_taps(float linear_coordinate) {
  const int32_t first = round_down(linear_coordinate);
  return {first, linear_coordinate - static_cast<float>(first)};
}

DC_HOST_DEV float blend(float first, float second, float weight) {
  return first + (second - first) * weight;
}

// Blends one channel, all of whose neighbours are inside.
template <int kDims, int kDim, typename T>
DC_HOST_DEV float blend_channel(const WarpSource<kDims>& source, const T* from,
                                const float* weights) {
  if constexpr (kDim == kDims) {
    return static_cast<float>(*from);
  } else {
    const T* next = from + source.stride[kDim] * source.channels;
    return blend(blend_channel<kDims, kDim + 1>(source, from, weights),
                 blend_channel<kDims, kDim + 1>(source, next, weights), weights[kDim]);
  }
}

// One channel between 2^kDims pixels, some of which may be outside the image. Neighbours in the
// last dimension blend first, those along x last.
template <int kDims, int kDim = 0, typename T>
DC_HOST_DEV float linear_at(const WarpSource<kDims>& source, const LinearTaps* taps, const T* pixel,
                            bool inside, float fill) {
  if constexpr (kDim == kDims) {
    return inside ? static_cast<float>(*pixel) : fill;
  } else {
    const int32_t extent = source.extent[kDim];
    int32_t first = taps[kDim].first;
    int32_t second = first + 1;
    bool first_inside = inside, second_inside = inside;
    if (source.repeats_border) {
      first = repeated_border(first, extent);
      second = repeated_border(second, extent);
    } else {
      first_inside = inside && first >= 0 && first < extent;
      second_inside = inside && second >= 0 && second < extent;
    }
    const int64_t stride = source.stride[kDim] * source.channels;
    return blend(
        linear_at<kDims, kDim + 1>(source, taps, first_inside ? pixel + first * stride : pixel,
                                   first_inside, fill),
        linear_at<kDims, kDim + 1>(source, taps, second_inside ? pixel + second * stride : pixel,
                                   second_inside, fill),
        taps[kDim].weight);
  }
}

}  // namespace dali_core
