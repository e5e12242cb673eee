// Mixes the channels of pixels, four a thread.
#include "dali_core/device_kernel.hpp"
#include "dali_core/kernels/color/color_matrix.hpp"
#include "dali_core/kernels/color/mix_task.hpp"

namespace dali_core {

template <typename Function>
__device__ void with_color_type(DataType type, Function&& function) {
  switch (type) {
    case DataType::kUInt8:
      return function(uint8_t{});
    case DataType::kInt16:
      return function(int16_t{});
    case DataType::kInt32:
      return function(int32_t{});
    case DataType::kFloat16:
      return function(Half{});
    default:
      return function(float{});
  }
}

__device__ void mix_pixels(const MixTask& task, int64_t first) {
  float in[3 * kGroup] = {};
  with_color_type(task.from, [&](auto zero) {
    using T = decltype(zero);
    const T* const data = static_cast<const T*>(task.in);
    const bool is_aligned = is_group_aligned<T>(data, 0);
    const int64_t count = task.pixels * task.input_channels;
#pragma unroll
    for (int k = 0; k < 3; ++k)
      if (k < task.input_channels)
        load_group(data, first * task.input_channels + k * kGroup, count, is_aligned,
                   in + k * kGroup);
  });
  float out[3 * kGroup];
#pragma unroll
  for (int i = 0; i < kGroup; ++i) {
    const bool is_gray = task.input_channels == 1;
    const float a = is_gray ? in[i] : in[3 * i];
    const float b = is_gray ? in[i] : in[3 * i + 1];
    const float c = is_gray ? in[i] : in[3 * i + 2];
    if (task.output_channels == 1) {
      out[i] = mix_channels(task.factors[0], task.offsets[0], a, b, c);
    } else {
#pragma unroll
      for (int k = 0; k < 3; ++k)
        out[3 * i + k] = mix_channels(task.factors[k], task.offsets[k], a, b, c);
    }
  }
  with_color_type(task.to, [&](auto zero) {
    using T = decltype(zero);
    T* const data = static_cast<T*>(task.out);
    const bool is_aligned = is_group_aligned<T>(data, 0);
    const int64_t count = task.pixels * task.output_channels;
#pragma unroll
    for (int k = 0; k < 3; ++k) {
      if (k >= task.output_channels) break;
      ElementGroup<T> group;
      for (int i = 0; i < kGroup; ++i) group.elements[i] = convert<T>(out[k * kGroup + i]);
      store_group(data, first * task.output_channels + k * kGroup, count, is_aligned, group);
    }
  });
}

}  // namespace dali_core

extern "C" __global__ void mix_colors(const dali_core::MixTask* tasks, int count) {
  using namespace dali_core;
  if (sample_of_block() >= count) return;
  const MixTask& task = tasks[sample_of_block()];
  for (int64_t group = first_item(); group * kGroup < task.pixels; group += item_step())
    mix_pixels(task, group * kGroup);
}
