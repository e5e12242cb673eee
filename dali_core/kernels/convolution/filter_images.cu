// Filters planes of images and volumes with any window, a few pixels of a row a thread.
#include "dali_core/kernels/convolution/convolved_groups.hpp"
#include "dali_core/kernels/convolution/filter.hpp"
#include "dali_core/kernels/convolution/filter_task.hpp"

namespace dali_core {
namespace {

__device__ __noinline__ int64_t place_inside(Border border, int64_t place, int64_t extent) {
  return border_place(border, place, extent);
}

// Four sums as numbers of the output.
template <typename To>
inline __device__ ElementGroup<To> filtered_group(const float (&sums)[kGroup]) {
  ElementGroup<To> group;
#pragma unroll
  for (int i = 0; i < kGroup; ++i) {
    if constexpr (std::is_same_v<To, uint8_t>)
      group.elements[i] = static_cast<uint8_t>(__float_as_uint(whole_in_last_bits<To>(sums[i])));
    else if constexpr (is_floating<To>)
      group.elements[i] = convert<To>(sums[i]);
    else
      group.elements[i] = convert<To>(round_half_to_even(sums[i]));
  }
  return group;
}

__device__ __noinline__ void store_other(void* to, int64_t index, DataType type, float sum) {
  with_type(type, [&](auto zero) {
    const float sums[kGroup] = {sum};
    static_cast<decltype(zero)*>(to)[index] = filtered_group<decltype(zero)>(sums).elements[0];
  });
}

template <int kAcross>
inline __device__ void store_filtered(const FilterTask& task, int64_t begin, int64_t count,
                                      const ConvolvedSums<kFilteredPixels, kAcross>& sums) {
  const auto store = [&](auto zero) {
    using To = decltype(zero);
    store_sums(static_cast<To*>(task.output) + begin, task.channels, count, sums,
               [](const float (&values)[kGroup]) { return filtered_group<To>(values); });
  };
  if (task.to == DataType::kFloat) return store(float{});
  if (task.to == DataType::kUInt8) return store(uint8_t{});
#pragma unroll
  for (int i = 0; i < kFilteredPixels; ++i)
#pragma unroll
    for (int c = 0; c < kAcross; ++c)
      if (i < count)
        store_other(task.output, begin + i * task.channels + c, task.to, sums.values[i][c]);
}

// What the window covers for the first of the pixels of a thread.
struct FilterPlace {
  int64_t covered[3];
  int64_t plane;    // the first number of the input's plane
  int64_t channel;  // the first one
};

// Adds one row of the window.
template <int kAcross, typename From>
inline __device__ void add_row(const FilterTask& task, const FilterPlace& place, int64_t z,
                               int64_t y, const float* weights, float fill,
                               ConvolvedSums<kFilteredPixels, kAcross>& sums) {
  const int64_t size = task.window[2];
  const bool is_constant = task.border == Border::kConstant;
  const bool is_inside = z >= 0 && z < task.extents[0] && y >= 0 && y < task.extents[1];
  if (!is_inside) {
    z = place_inside(task.border, z, task.extents[0]);
    y = place_inside(task.border, y, task.extents[1]);
  }
  const int64_t row =
      place.plane + (z * task.extents[1] + y) * task.extents[2] * task.channels + place.channel;
  const int64_t first = place.covered[2];
  if (first >= 0 && first + size + kFilteredPixels - 1 <= task.extents[2] &&
      (is_inside || !is_constant)) {
    const int64_t origin = row + first * task.channels;
    add_weights<true>(
        weights, size,
        [&](int64_t k, float (&values)[kAcross]) {
          load_numbers<From, false>(task.input, origin + k * task.channels, task.from, values);
        },
        sums);
    return;
  }
  add_weights<true>(
      weights, size,
      [&](int64_t k, float (&values)[kAcross]) {
        const int64_t x = first + k;
        if (is_constant && !(is_inside && x >= 0 && x < task.extents[2])) {
#pragma unroll
          for (int c = 0; c < kAcross; ++c) values[c] = fill;
        } else {
          const int64_t within = place_inside(task.border, x, task.extents[2]);
          load_numbers<From, false>(task.input, row + within * task.channels, task.from, values);
        }
      },
      sums);
}

template <int kAcross, typename From>
inline __device__ void sum_window(const FilterTask& task, const FilterPlace& place, float fill,
                                  ConvolvedSums<kFilteredPixels, kAcross>& sums) {
  const float* weights = task.weights;
#pragma unroll 1
  for (int64_t k = 0; k < task.window[0]; ++k)
#pragma unroll 1
    for (int64_t j = 0; j < task.window[1]; ++j, weights += task.window[2])
      add_row<kAcross, From>(task, place, place.covered[0] + k, place.covered[1] + j, weights, fill,
                             sums);
}

template <int kAcross, typename From>
inline __device__ void filter_planes(const FilterTask& task) {
  const float fill = task.fill ? load_element(task.fill, 0, task.fill_type) : 0.0f;
  const int64_t input_plane = task.extents[0] * task.extents[1] * task.extents[2] * task.channels;
  const int64_t items = task.items();
  for (int64_t item = first_item(); item < items; item += item_step()) {
    const int64_t group = quotient(item, task.channel_groups);
    const int64_t row = quotient(group, task.groups);
    const int64_t slice = quotient(row, task.height);
    const int64_t plane = quotient(slice, task.depth);
    const int64_t x = (group - row * task.groups.divisor) * kFilteredPixels;
    const int64_t channel = (item - group * task.channel_groups.divisor) * kAcross;
    const FilterPlace place = {
        {slice - plane * task.depth.divisor - task.anchor[0],
         row - slice * task.height.divisor - task.anchor[1], x - task.anchor[2]},
        plane * input_plane,
        channel};
    ConvolvedSums<kFilteredPixels, kAcross> sums;
    sum_window<kAcross, From>(task, place, fill, sums);
    store_filtered(task, (row * task.output_width + x) * task.channels + channel,
                   task.output_width - x, sums);
  }
}

template <typename From>
inline __device__ void filter_typed_planes(const FilterTask& task) {
  if (task.channels == 3)
    filter_planes<3, From>(task);
  else
    filter_planes<1, From>(task);
}

}  // namespace
}  // namespace dali_core

extern "C" __global__ void filter_images(const dali_core::FilterTask* tasks, int count) {
  using namespace dali_core;
  if (sample_of_block() >= count) return;
  const FilterTask& task = tasks[sample_of_block()];
  if (task.from == DataType::kUInt8)
    filter_typed_planes<uint8_t>(task);
  else if (task.from == DataType::kFloat)
    filter_typed_planes<float>(task);
  else
    filter_planes<1, AnyNumber>(task);
}
