// Draws numbers in parallel, each with the draws that it has when all are drawn one by one.
#include "dali_core/element_groups.hpp"
#include "dali_core/operators/random/rejection.hpp"
#include "dali_core/operators/random/uniform/uniform.hpp"

namespace dali_core {

template <typename T>
__device__ void draw_group(const UniformTask& task, int64_t group) {
  constexpr int64_t kDraws = kIsFine<T> ? 2 : 1;
  RandomStream random(task.seed, task.key);
  ElementGroup<T> numbers;
  if (task.values == nullptr) {
    random.seek(static_cast<uint32_t>(kDraws * kGroup * group));
    for (int i = 0; i < kGroup; ++i)
      numbers.elements[i] = draw_from_range<T>(random, task.low, task.high);
  } else {
    random.seek(static_cast<uint32_t>(kGroup * group));
    for (int i = 0; i < kGroup; ++i) {
      bool is_rejected = false;
      const uint32_t choice = draw_below(random.next_uint32(), task.num_values, is_rejected);
      numbers.elements[i] = convert<T>(task.values[choice]);
      if (is_rejected && group * kGroup + i < task.count) *task.has_rejected = 1;
    }
  }
  store_group(static_cast<T*>(task.out), group * kGroup, task.count,
              is_group_aligned<T>(task.out, 0), numbers);
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
    dali_core::with_type(task.type,
                         [&](auto zero) { dali_core::draw_group<decltype(zero)>(task, i); });
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
