// Draws numbers of normal distribution in pairs, each with the draws that it has on the host.
#include "dali_core/device_kernel.hpp"
#include "dali_core/kernels/random/normal.hpp"

extern "C" __global__ void draw_normal(const dali_core::NormalTask* tasks, int count) {
  using namespace dali_core;
  if (sample_of_block() >= count) return;
  const NormalTask task = tasks[sample_of_block()];
  for (int64_t pair = first_item(); 2 * pair < task.count; pair += item_step()) {
    RandomStream random(task.seed, task.key);
    random.seek(static_cast<uint32_t>(4 * pair));
    const double radius = random.next_double();
    const NormalPair numbers = normal_pair(radius, random.next_double());
    with_type(task.type, [&](auto zero) {
      using T = decltype(zero);
      T* const out = static_cast<T*>(task.out) + 2 * pair;
      out[0] = scaled_normal<T>(numbers.first, task.mean, task.stddev);
      if (2 * pair + 1 < task.count)
        out[1] = scaled_normal<T>(numbers.second, task.mean, task.stddev);
    });
  }
}
