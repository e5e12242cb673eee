// Warps frames by affine transforms: usual images in groups of pixels, others a pixel a thread.
#include "dali_core/device_kernel.hpp"
#include "dali_core/kernels/warp/affine_task.hpp"
#include "dali_core/kernels/warp/warp_groups.hpp"

namespace dali_core {

// Types of pixels that can be warped.
template <typename Function>
__device__ void with_warp_type(DataType type, Function&& function) {
  switch (type) {
    case DataType::kUInt8:
      return function(uint8_t{});
    case DataType::kInt16:
      return function(int16_t{});
    case DataType::kUInt16:
      return function(uint16_t{});
    case DataType::kInt32:
      return function(int32_t{});
    default:
      return function(float{});
  }
}

__device__ __noinline__ void store_other(void* to, int64_t index, DataType type, float value) {
  with_warp_type(type, [&](auto zero) {
    using To = decltype(zero);
    static_cast<To*>(to)[index] = convert<To>(value);
  });
}

__device__ void store_channel(void* to, int64_t index, DataType type, float value) {
  if (type == DataType::kUInt8)
    static_cast<uint8_t*>(to)[index] = convert<uint8_t>(value);
  else if (type == DataType::kFloat)
    static_cast<float*>(to)[index] = value;
  else
    store_other(to, index, type, value);
}

template <int kDims>
__device__ void coordinates_of(const AffineTask<kDims>& task, int64_t number,
                               float (&coordinates)[kDims]) {
  int32_t position[3];
  int64_t rest = quotient(number, task.width);
  position[0] = static_cast<int32_t>(number - rest * task.width.divisor);
  position[2] = kDims == 3 ? static_cast<int32_t>(quotient(rest, task.height)) : 0;
  position[1] = static_cast<int32_t>(rest - position[2] * task.height.divisor);
#pragma unroll
  for (int d = 0; d < kDims; ++d)
    coordinates[d] = mapped_coordinate(task.map.rows[d][0],
                                       row_offset<kDims>(task.map.rows[d], position), position[0]);
}

template <int kDims, typename From>
__device__ void warp_nearest(const AffineTask<kDims>& task, const float (&coordinates)[kDims],
                             int64_t first) {
  int64_t offset = 0;
  bool inside = true;
#pragma unroll
  for (int d = 0; d < kDims; ++d) {
    const int32_t pixel = nearest_pixel(coordinates[d], task.source.extent[d]);
    const int32_t within = repeated_border(pixel, task.source.extent[d]);
    inside = inside && pixel >= 0 && pixel < task.source.extent[d];
    offset += static_cast<int64_t>(within) * task.source.stride[d];
  }
  inside = inside || task.source.repeats_border;
  const From* const from =
      static_cast<const From*>(task.source.pixels) + offset * task.source.channels;
#pragma unroll 1
  for (int64_t c = 0; c < task.source.channels; ++c) {
    if (!inside)
      store_channel(task.output, first + c, task.output_type, task.fill_value);
    else if (task.output_type == task.input_type)
      static_cast<From*>(task.output)[first + c] = from[c];
    else
      store_channel(task.output, first + c, task.output_type, static_cast<float>(from[c]));
  }
}

template <int kDims, typename From>
__device__ void warp_linear(const AffineTask<kDims>& task, const float (&coordinates)[kDims],
                            int64_t first) {
  const WarpSource<kDims>& source = task.source;
  LinearTaps taps[kDims];
  float weights[kDims];
  int64_t offset = 0;
  bool inside = true, outside = false;
#pragma unroll
  for (int d = 0; d < kDims; ++d) {
    const float coordinate = linear_coordinate(coordinates[d], source.extent[d]);
    taps[d] = linear_taps(coordinate);
    weights[d] = taps[d].weight;
    offset += static_cast<int64_t>(taps[d].first) * source.stride[d];
    inside = inside && taps[d].first >= 0 && taps[d].first < source.extent[d] - 1;
    outside = outside || coordinate <= -1.0f || coordinate >= static_cast<float>(source.extent[d]);
  }
  const From* const pixels = static_cast<const From*>(source.pixels);
  const float fill = convert<float>(convert<From>(task.fill_value));
#pragma unroll 1
  for (int64_t c = 0; c < source.channels; ++c) {
    float value = fill;
    if (inside)
      value = blend_channel<kDims, 0>(source, pixels + offset * source.channels + c, weights);
    else if (!outside || source.repeats_border)
      value = linear_at<kDims>(source, taps, pixels + c, true, fill);
    store_channel(task.output, first + c, task.output_type, value);
  }
}

template <int kDims, typename From>
__device__ __noinline__ void warp_pixel(const AffineTask<kDims>& task, int64_t number) {
  float coordinates[kDims];
  coordinates_of(task, number, coordinates);
  const int64_t first = number * task.source.channels;
  if (task.nearest)
    warp_nearest<kDims, From>(task, coordinates, first);
  else
    warp_linear<kDims, From>(task, coordinates, first);
}

template <int kDims>
__device__ void warp_pixels(const AffineTask<kDims>& task) {
  with_warp_type(task.input_type, [&](auto zero) {
    for (int64_t number = first_item(); number < task.pixels; number += item_step())
      warp_pixel<kDims, decltype(zero)>(task, number);
  });
}

template <int kChannels, typename From, typename To>
__device__ void warp_groups(const AffineTask<2>& task) {
  warp_pixel_groups<kChannels, From, To>(
      task, [&](int32_t x, int32_t y) { warp_pixel<2, From>(task, y * task.width.divisor + x); });
}

template <int kChannels>
__device__ void warp_typed_groups(const AffineTask<2>& task) {
  if (task.input_type == DataType::kFloat)
    warp_groups<kChannels, float, float>(task);
  else if (task.output_type == DataType::kFloat)
    warp_groups<kChannels, uint8_t, float>(task);
  else
    warp_groups<kChannels, uint8_t, uint8_t>(task);
}

}  // namespace dali_core

extern "C" __global__ void warp_images(const dali_core::AffineTask<2>* tasks, int count) {
  using namespace dali_core;
  if (sample_of_block() >= count) return;
  const AffineTask<2>& task = tasks[sample_of_block()];
  if (task.tiles == 0)
    warp_pixels(task);
  else if (task.source.channels == 3)
    warp_typed_groups<3>(task);
  else
    warp_typed_groups<1>(task);
}

extern "C" __global__ void warp_volumes(const dali_core::AffineTask<3>* tasks, int count) {
  using namespace dali_core;
  if (sample_of_block() < count) warp_pixels(tasks[sample_of_block()]);
}
