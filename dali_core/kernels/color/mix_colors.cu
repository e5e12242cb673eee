// Mixes the channels of pixels, four a thread.
#include "dali_core/device_groups.hpp"
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

__device__ __noinline__ void mix_pixels(const MixTask& task, int64_t first) {
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

// The same for colours of usual types, whose matrix stays in registers.
template <bool kAligned, typename From, typename To>
__device__ void mix_colors_of(const MixTask& task) {
  const From* const in = static_cast<const From*>(task.in);
  To* const out = static_cast<To*>(task.out);
  const int64_t pixels = task.pixels;
  float factors[3][3], offsets[3];
#pragma unroll
  for (int k = 0; k < 3; ++k) {
    offsets[k] = task.offsets[k];
#pragma unroll
    for (int c = 0; c < 3; ++c) factors[k][c] = task.factors[k][c];
  }
  // Words that an unaligned group is part of are there, but for the first and the last group.
  constexpr int64_t kMargin = kAligned ? 0 : 1;
  const int64_t whole = max(pixels / kGroup - 2 * kMargin, int64_t{0});
  const int64_t others = (pixels + kGroup - 1) / kGroup - whole;
  for (int64_t other = first_item(); other < others; other += item_step())
    mix_pixels(task, (other < kMargin ? other : other + whole) * kGroup);
  GroupWords<From> next[3];
  const auto load = [&](int64_t group) {
#pragma unroll
    for (int k = 0; k < 3; ++k) next[k] = load_whole<kAligned>(in + (3 * group + k) * kGroup);
  };
  const int64_t end = kMargin + whole;
  if (kMargin + first_item() < end) load(kMargin + first_item());
  for (int64_t group = kMargin + first_item(); group < end; group += item_step()) {
    const int64_t first = group * kGroup;
    float values[3 * kGroup];
#pragma unroll
    for (int k = 0; k < 3; ++k) {
      float loaded[kGroup];
      next[k].to_floats(loaded);
#pragma unroll
      for (int i = 0; i < kGroup; ++i) values[k * kGroup + i] = loaded[i];
    }
    // Those of the next turn are on their way while this one is computed.
    if (group + item_step() < end) load(group + item_step());
#pragma unroll
    for (int k = 0; k < 3; ++k) {
      float mixed[kGroup];
#pragma unroll
      for (int i = 0; i < kGroup; ++i) {
        const int channel = (k * kGroup + i) % 3;
        const float* const pixel = values + (k * kGroup + i) / 3 * 3;
        mixed[i] = mix_channels(factors[channel], offsets[channel], pixel[0], pixel[1], pixel[2]);
      }
      store_whole(out + 3 * first + k * kGroup, convert_group<To>(mixed));
    }
  }
}

}  // namespace dali_core

extern "C" __global__ void __launch_bounds__(256, 3)
    mix_colors(const dali_core::MixTask* tasks, int count) {
  using namespace dali_core;
  if (sample_of_block() >= count) return;
  const MixTask& task = tasks[sample_of_block()];
  if (task.input_channels == 3 && task.output_channels == 3) {
    const bool is_usual = with_usual_types(task.from, task.to, [&](auto from, auto to) {
      using From = decltype(from);
      using To = decltype(to);
      if (is_group_aligned<To>(task.out, 0))
        return is_group_aligned<From>(task.in, 0) ? mix_colors_of<true, From, To>(task)
                                                  : mix_colors_of<false, From, To>(task);
      for (int64_t group = first_item(); group * kGroup < task.pixels; group += item_step())
        mix_pixels(task, group * kGroup);
    });
    if (is_usual) return;
  }
  for (int64_t group = first_item(); group * kGroup < task.pixels; group += item_step())
    mix_pixels(task, group * kGroup);
}
