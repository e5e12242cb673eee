// Convolves along one axis with one window, or with several and adds them.
#include "dali_core/kernels/convolution/axis_task.hpp"
#include "dali_core/kernels/convolution/border.hpp"
#include "dali_core/kernels/convolution/convolved_groups.hpp"

namespace dali_core {
namespace {

__device__ __noinline__ int64_t mirrored_place(int64_t place, int64_t extent) {
  return border_place(Border::kReflect101, place, extent);
}

__device__ __noinline__ void store_other(void* to, int64_t index, DataType type, float sum) {
  store_element(to, index, type, sum);
}

// The sums for places `first` and following of the numbers that begin at `begin`.
template <int kAcross, typename From, bool kAligned>
inline __device__ void sum_windows(const AxisTask& task, int64_t begin, int64_t first,
                                   ConvolvedSums<kPlacesAlong, kAcross>& sums) {
  const int64_t step = task.in.step;
  const float* weights = task.weights;
#pragma unroll 1
  for (int64_t window = 0; window < task.num_windows; ++window) {
    const int64_t size = task.sizes[window];
    const int64_t covered = first - size / 2;
    const bool is_inside = covered >= 0 && covered + size + kPlacesAlong - 1 <= task.extent;
    if (is_inside) {
      const int64_t origin = begin + covered * step;
      add_weights<false>(
          weights, size,
          [&](int64_t k, float (&values)[kAcross]) {
            load_numbers<From, kAligned>(task.input, origin + k * step, task.from, values);
          },
          sums);
    } else {
      add_weights<false>(
          weights, size,
          [&](int64_t k, float (&values)[kAcross]) {
            const int64_t place = mirrored_place(covered + k, task.extent);
            load_numbers<From, kAligned>(task.input, begin + place * step, task.from, values);
          },
          sums);
    }
    begin += task.window_stride;
    weights += size;
  }
}

template <int kAcross>
inline __device__ void store_convolved(const AxisTask& task, int64_t begin, int64_t count,
                                       const ConvolvedSums<kPlacesAlong, kAcross>& sums) {
  if (task.to == DataType::kFloat) {
    store_sums(static_cast<float*>(task.output) + begin, task.out.step, count, sums,
               [](const float (&values)[kGroup]) { return convert_group<float>(values); });
  } else if (task.to == DataType::kUInt8) {
    store_sums(static_cast<uint8_t*>(task.output) + begin, task.out.step, count, sums,
               [](const float (&values)[kGroup]) { return convert_group<uint8_t>(values); });
  } else {
#pragma unroll
    for (int i = 0; i < kPlacesAlong; ++i)
#pragma unroll
      for (int c = 0; c < kAcross; ++c)
        if (i < count)
          store_other(task.output, begin + i * task.out.step + c, task.to, sums.values[i][c]);
  }
}

template <int kAcross, typename From>
inline __device__ void convolve_lines(const AxisTask& task) {
  const int64_t items = task.items();
  for (int64_t item = first_item(); item < items; item += item_step()) {
    const int64_t rest = quotient(item, task.groups_across);
    const int64_t line = quotient(rest, task.groups_along);
    const int64_t first = (rest - line * task.groups_along.divisor) * kPlacesAlong;
    // The last group begins early, so that it is whole.
    const int64_t group = (item - rest * task.groups_across.divisor) * kAcross;
    const int64_t across = min(group, task.across - kAcross);
    const int64_t begin = line * task.in.line + across;
    ConvolvedSums<kPlacesAlong, kAcross> sums;
    bool is_aligned = false;
    if constexpr (kAcross == kGroup && !std::is_same_v<From, AnyNumber>)
      is_aligned = is_group_aligned<From>(static_cast<const From*>(task.input) + begin, 0) &&
                   task.in.step % kGroup == 0 && task.window_stride % kGroup == 0;
    if (is_aligned)
      sum_windows<kAcross, From, true>(task, begin, first, sums);
    else
      sum_windows<kAcross, From, false>(task, begin, first, sums);
    store_convolved(task, line * task.out.line + first * task.out.step + across,
                    task.extent - first, sums);
  }
}

template <typename From>
inline __device__ void convolve_typed_lines(const AxisTask& task) {
  if (task.together == 4)
    convolve_lines<4, From>(task);
  else if (task.together == 3)
    convolve_lines<3, From>(task);
  else
    convolve_lines<1, From>(task);
}

}  // namespace
}  // namespace dali_core

extern "C" __global__ void convolve_axis(const dali_core::AxisTask* tasks, int count) {
  using namespace dali_core;
  if (sample_of_block() >= count) return;
  const AxisTask& task = tasks[sample_of_block()];
  if (task.from == DataType::kUInt8)
    convolve_typed_lines<uint8_t>(task);
  else if (task.from == DataType::kFloat)
    convolve_typed_lines<float>(task);
  else
    convolve_lines<1, AnyNumber>(task);
}
