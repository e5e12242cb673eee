// Affine warps of usual images, linear between pixels, four pixels of a row a thread. For device
// code only.
//
// Coordinates become whole numbers by way of the bits of floats around 3 * 2^22, whose last one
// counts ones: conversions have few lanes.
#pragma once

#include <cstdint>
#include <type_traits>

#include "dali_core/device_groups.hpp"
#include "dali_core/kernels/warp/affine_task.hpp"

namespace dali_core {

constexpr float kCountsOnesAround0 = 12582912.0f;

// A coordinate between two pixels: the first one and the weight of the second. A coordinate that is
// not between pixels of an image has a number that is greater than those of all pixels.
struct NeighbourPixels {
  uint32_t first;
  float weight;

  inline __device__ explicit NeighbourPixels(float coordinate) {
    const float counted = __fadd_rd(coordinate, kCountsOnesAround0);
    first = __float_as_uint(counted) - __float_as_uint(kCountsOnesAround0);
    weight = coordinate - (counted - kCountsOnesAround0);
  }
};

// Loads pixels that are beside each other.
template <int kChannels, typename From>
class PixelPairs {
 public:
  // What is added to numbers that are loaded.
  static constexpr float kAdded = std::is_same_v<From, uint8_t> ? kCountsOnes : 0.0f;

  inline __device__ explicit PixelPairs(const WarpSource<2>& source)
      : pixels_(static_cast<const char*>(source.pixels)),
        row_bytes_(static_cast<uint32_t>(source.stride[1]) * kPixelBytes),
        columns_(static_cast<uint32_t>(source.extent[0] - 1)),
        rows_(static_cast<uint32_t>(source.extent[1] - 1)) {
    if constexpr (!kInWords) return;
    // Words that are partly outside of the image may not be loaded.
    skipped_ = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(pixels_) % 4);
    pixels_ -= skipped_;
    first_place_ = skipped_ == 0 ? 0 : skipped_ + kPixelBytes;
    const int64_t places = int64_t{rows_} * row_bytes_ + skipped_ - kWordBytes - first_place_;
    if (places < 0) columns_ = 0;
    last_place_ = static_cast<uint32_t>(places);
  }

  inline __device__ uint32_t place(uint32_t x, uint32_t y) const {
    return y * row_bytes_ + (x * kPixelBytes + skipped_);
  }

  // Whether the pixels at a place and those in the next row can be loaded.
  inline __device__ bool has(uint32_t x, uint32_t y) const {
    return x < columns_ && y < rows_ && (!kInWords || place(x, y) - first_place_ <= last_place_);
  }

  inline __device__ uint32_t next_row(uint32_t place) const { return place + row_bytes_; }

  inline __device__ void load(uint32_t place, float (&numbers)[2 * kChannels]) const {
    if constexpr (kInWords) {
      const uint32_t* const from = reinterpret_cast<const uint32_t*>(pixels_ + (place & ~3u));
      const uint32_t middle = from[1];
      const uint32_t low = __funnelshift_r(from[0], middle, place * 8);
      const uint32_t high = __funnelshift_r(middle, from[2], place * 8);
      numbers[0] = counted_byte<0>(low);
      numbers[1] = counted_byte<1>(low);
      numbers[2] = counted_byte<2>(low);
      numbers[3] = counted_byte<3>(low);
      numbers[4] = counted_byte<0>(high);
      numbers[5] = counted_byte<1>(high);
    } else {
      const From* const from = reinterpret_cast<const From*>(pixels_ + place);
#pragma unroll
      for (int i = 0; i < 2 * kChannels; ++i) {
        if constexpr (std::is_same_v<From, uint8_t>)
          numbers[i] = counted_byte<0>(from[i]);
        else
          numbers[i] = from[i];
      }
    }
  }

 private:
  static constexpr uint32_t kPixelBytes = kChannels * sizeof(From);
  static constexpr bool kInWords = kPixelBytes == 3;
  static constexpr int64_t kWordBytes = 12;

  const char* pixels_;
  uint32_t row_bytes_;
  uint32_t columns_, rows_;  // that others follow
  uint32_t skipped_ = 0;     // bytes from `pixels_` to the first pixel
  uint32_t first_place_ = 0,
           last_place_ = 0;  // that words can be loaded from; the last from the first on
};

// blend(), whose numbers have something added.
template <int kChannels, typename From>
inline __device__ void blend_pixel(const PixelPairs<kChannels, From>& pairs, uint32_t place,
                                   float across, float down, float* values) {
  constexpr float kAdded = PixelPairs<kChannels, From>::kAdded;
  float above[2 * kChannels], below[2 * kChannels], column[2 * kChannels];
  pairs.load(place, above);
  pairs.load(pairs.next_row(place), below);
#pragma unroll
  for (int i = 0; i < 2 * kChannels; ++i)
    column[i] = (above[i] - kAdded) + (below[i] - above[i]) * down;
#pragma unroll
  for (int c = 0; c < kChannels; ++c) values[c] = blend(column[c], column[kChannels + c], across);
}

// Pixels of the output, which are between numbers of the input.
template <typename From, typename To>
inline __device__ ElementGroup<To> blended_group(const float (&values)[kGroup]) {
  if constexpr (std::is_same_v<From, uint8_t> && std::is_same_v<To, uint8_t>)
    return last_bytes(rounded_byte(values[0]), rounded_byte(values[1]), rounded_byte(values[2]),
                      rounded_byte(values[3]));
  else
    return convert_group<To>(values);
}

// How many pixels ahead of a row the first group of four begins, so that groups are aligned.
template <int kChannels, typename To>
inline __device__ int32_t row_lead(const To* row) {
  const auto lead = static_cast<int32_t>(group_lead(row, sizeof(To)));
  return kChannels == 3 ? -lead & 3 : lead;
}

// `others(x, y)` makes a pixel that is not between four of the image.
template <int kChannels, typename From, typename To, typename Others>
inline __device__ void warp_pixel_groups(const AffineTask<2>& task, const Others& others) {
  static_assert(kChannels == 1 || kChannels == 3);
  const PixelPairs<kChannels, From> pairs(task.source);
  const WarpMap<2> map = task.map;
  const QuickDivisor across = task.tiles_across;
  const auto width = static_cast<int32_t>(task.width.divisor);
  const auto height = static_cast<int32_t>(task.height.divisor);
  To* const output = static_cast<To*>(task.output);
  const auto thread = static_cast<int32_t>(threadIdx.x);
  for (int64_t tile = blockIdx.x; tile < task.tiles; tile += gridDim.x) {
    const int64_t tile_row = quotient(tile, across);
    const int32_t y = static_cast<int32_t>(tile_row) * kWarpTileRows + thread / kWarpTileGroups;
    if (y >= height) continue;
    To* const row = output + int64_t{y} * width * kChannels;
    const auto column = static_cast<int32_t>(tile - tile_row * across.divisor);
    const int32_t x =
        (column * kWarpTileGroups + thread % kWarpTileGroups) * kGroup - row_lead<kChannels>(row);
    const int32_t position[2] = {x, y};
    const float offset_x = row_offset<2>(map.rows[0], position);
    const float offset_y = row_offset<2>(map.rows[1], position);
    const float centre = static_cast<float>(x) + 0.5f;
    uint32_t places[kGroup];
    float weights[kGroup][2];
    bool are_inside = x >= 0 && x + kGroup <= width;
#pragma unroll
    for (int i = 0; i < kGroup; ++i) {
      const float x_i = centre + static_cast<float>(i);  // exact
      const NeighbourPixels along_x(map.rows[0][0] * x_i + offset_x - 0.5f);
      const NeighbourPixels along_y(map.rows[1][0] * x_i + offset_y - 0.5f);
      weights[i][0] = along_x.weight;
      weights[i][1] = along_y.weight;
      places[i] = pairs.place(along_x.first, along_y.first);
      are_inside = are_inside && pairs.has(along_x.first, along_y.first);
    }
    if (!are_inside) {
#pragma unroll 1
      for (int32_t i = x < 0 ? 0 : x; i < x + kGroup && i < width; ++i) others(i, y);
      continue;
    }
    float values[kChannels * kGroup];
#pragma unroll
    for (int i = 0; i < kGroup; ++i)
      blend_pixel(pairs, places[i], weights[i][0], weights[i][1], values + i * kChannels);
#pragma unroll
    for (int k = 0; k < kChannels; ++k) {
      float group[kGroup];
#pragma unroll
      for (int i = 0; i < kGroup; ++i) group[i] = values[k * kGroup + i];
      store_whole(row + x * kChannels + k * kGroup, blended_group<From, To>(group));
    }
  }
}

}  // namespace dali_core
