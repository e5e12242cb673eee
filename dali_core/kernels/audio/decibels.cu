// Puts ratios on a logarithmic scale, after the largest number has been found where that is what
// they are ratios to.
#include "dali_core/kernels/audio/decibels.hpp"

#include "dali_core/device_kernel.hpp"

extern "C" __global__ void __launch_bounds__(256)
    find_largest(const dali_core::DecibelTask* tasks, int count) {
  using namespace dali_core;
  __shared__ float largest[kLargestThreads];
  if (sample_of_block() >= count) return;
  const DecibelTask& task = tasks[sample_of_block()];
  const int thread = static_cast<int>(threadIdx.x);
  float own = 0;
  for (int64_t i = thread; i < task.count; i += kLargestThreads)
    own = task.in[i] > own ? task.in[i] : own;
  largest[thread] = own;
  for (int half = kLargestThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (thread < half && largest[thread + half] > largest[thread])
      largest[thread] = largest[thread + half];
  }
  if (thread == 0) *task.largest = largest[0];
}

extern "C" __global__ void convert_to_decibels(const dali_core::DecibelTask* tasks, int count) {
  using namespace dali_core;
  if (sample_of_block() >= count) return;
  const DecibelTask& task = tasks[sample_of_block()];
  float reference = task.largest == nullptr ? task.rule.reference : *task.largest;
  // A signal without anything positive has no other reference.
  if (reference == 0) reference = 1;
  const float factor = 1 / reference;
  const bool is_normal = task.rule.is_normal();
  for (int64_t i = first_item(); i < task.count; i += item_step()) {
    const float ratio = task.in[i] * factor;
    task.out[i] = is_normal
                      ? decibels_of_normal(ratio, task.rule.least, task.rule.multiplier, task.scale)
                      : decibels_of_any(ratio, task.rule.least, task.rule.multiplier);
  }
}
