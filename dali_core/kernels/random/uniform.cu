// Draws numbers in parallel, each with the draws that it has when all are drawn one by one.
#include "dali_core/element_groups.hpp"
#include "dali_core/kernels/random/rejection.hpp"
#include "dali_core/kernels/random/uniform.hpp"

namespace dali_core {

// Numbers of a range are drawn before it is known which type they become.
template <typename Float>
__device__ void draw_range(const UniformTask& task, int64_t group, Float* numbers) {
  constexpr int64_t kDraws = sizeof(Float) / 4;
  RandomStream random(task.seed, task.key);
  random.seek(static_cast<uint32_t>(kDraws * kGroup * group));
  for (int i = 0; i < kGroup; ++i) numbers[i] = draw_from_range<Float>(random, task.low, task.high);
}

__device__ void draw_values(const UniformTask& task, int64_t group, float* numbers) {
  RandomStream random(task.seed, task.key);
  random.seek(static_cast<uint32_t>(kGroup * group));
  for (int i = 0; i < kGroup; ++i) {
    bool is_rejected = false;
    numbers[i] = task.values[draw_below(random.next_uint32(), task.num_values, is_rejected)];
    if (is_rejected && group * kGroup + i < task.count) *task.has_rejected = 1;
  }
}

template <bool kFine, typename Float>
__device__ void store_numbers(const UniformTask& task, int64_t group, const Float* numbers) {
  with_type(task.type, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (kIsFine<T> == kFine || std::is_same_v<Float, float>) {
      ElementGroup<T> converted;
      for (int i = 0; i < kGroup; ++i) converted.elements[i] = convert<T>(numbers[i]);
      store_group(static_cast<T*>(task.out), group * kGroup, task.count,
                  is_group_aligned<T>(task.out, 0), converted);
    }
  });
}

__device__ void draw_group(const UniformTask& task, int64_t group) {
  const bool is_fine = size_of(task.type) >= 4 && task.type != DataType::kFloat;
  if (is_fine && task.values == nullptr) {
    double numbers[kGroup];
    draw_range(task, group, numbers);
    return store_numbers<true>(task, group, numbers);
  }
  float numbers[kGroup];
  if (task.values == nullptr)
    draw_range(task, group, numbers);
  else
    draw_values(task, group, numbers);
  store_numbers<false>(task, group, numbers);
}

}  // namespace dali_core

extern "C" __global__ void draw_uniform(const dali_core::UniformTask* tasks, int count) {
  const int number = static_cast<int>(blockIdx.y + gridDim.y * blockIdx.z);
  if (number >= count) return;
  const dali_core::UniformTask task = tasks[number];
  const int64_t groups = dali_core::num_groups(task.count, 0);
  const int64_t num_threads = static_cast<int64_t>(gridDim.x) * blockDim.x;
  for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < groups;
       i += num_threads)
    dali_core::draw_group(task, i);
}

// Draws the values of a sample again, one by one, if a draw of it was to be rejected: all behind
// that one move up. This is rare unless there are millions of values.
extern "C" __global__ void redraw_uniform(const dali_core::UniformTask* tasks, int count) {
  const int number = static_cast<int>(blockIdx.y + gridDim.y * blockIdx.z);
  if (number >= count || threadIdx.x > 0 || *tasks[number].has_rejected == 0) return;
  const dali_core::UniformTask task = tasks[number];
  dali_core::RandomStream random(task.seed, task.key);
  dali_core::with_type(task.type, [&](auto zero) {
    using T = decltype(zero);
    for (int64_t i = 0; i < task.count; ++i)
      static_cast<T*>(task.out)[i] =
          dali_core::convert<T>(task.values[random.next_below(task.num_values)]);
  });
}
