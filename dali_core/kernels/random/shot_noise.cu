// Replaces elements by numbers of events with these means, two elements a thread.
#include "dali_core/kernels/random/shot_noise.hpp"

#include "dali_core/device_kernel.hpp"

namespace dali_core {

__device__ __noinline__ double draw_events(double mean, const PhiloxBlock& block,
                                           const ShotNoiseTask& task, int64_t element) {
  return poisson(mean, probability_of_none(mean),
                 draws_of_element(block, task.seed, task.key, element));
}

}  // namespace dali_core

extern "C" __global__ void add_shot_noise(const dali_core::ShotNoiseTask* tasks, int count) {
  using namespace dali_core;
  if (sample_of_block() >= count) return;
  const ShotNoiseTask& task = tasks[sample_of_block()];
  for (int64_t pair = first_item(); 2 * pair < task.count; pair += item_step()) {
    const PhiloxBlock block = shot_noise_block(task.seed, task.key, pair);
    const int64_t end = 2 * pair + 2 < task.count ? 2 * pair + 2 : task.count;
#pragma unroll 1
    for (int64_t i = 2 * pair; i < end; ++i) {
      with_type(task.type, [&](auto zero) {
        using T = decltype(zero);
        if constexpr (!std::is_same_v<T, bool>)
          static_cast<T*>(task.out)[i] =
              with_shot_noise(static_cast<const T*>(task.in)[i], task.factor,
                              [&](double mean) { return draw_events(mean, block, task, i); });
      });
    }
  }
}
