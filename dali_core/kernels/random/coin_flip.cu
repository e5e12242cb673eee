// Flips coins, four a thread: as many as there are draws in a block of random numbers.
#include "dali_core/device_kernel.hpp"
#include "dali_core/kernels/random/coin_flip.hpp"

extern "C" __global__ void flip_coins(const dali_core::CoinFlipTask* tasks, int count) {
  using namespace dali_core;
  if (sample_of_block() >= count) return;
  const CoinFlipTask task = tasks[sample_of_block()];
  const int64_t groups = num_groups(task.count, 0);
  for (int64_t group = first_item(); group < groups; group += item_step()) {
    RandomStream random(task.seed, task.key);
    random.seek(static_cast<uint32_t>(kGroup * group));
    bool heads[kGroup];
    for (int i = 0; i < kGroup; ++i) heads[i] = coin_flip(random.next_uint32(), task.threshold);
    with_type(task.type, [&](auto zero) {
      using T = decltype(zero);
      ElementGroup<T> converted;
      for (int i = 0; i < kGroup; ++i) converted.elements[i] = convert<T>(heads[i]);
      store_group(static_cast<T*>(task.out), group * kGroup, task.count,
                  is_group_aligned<T>(task.out, 0), converted);
    });
  }
}
