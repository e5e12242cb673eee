// Applies mel filters to spectra, a filter of a spectrum a thread.
#include "dali_core/device_kernel.hpp"
#include "dali_core/kernels/audio/mel_task.hpp"

extern "C" __global__ void apply_mel_filters(const dali_core::MelTask* tasks, int count) {
  using namespace dali_core;
  if (sample_of_block() >= count) return;
  const MelTask& task = tasks[sample_of_block()];
  for (int64_t number = first_item(); number < task.count; number += item_step())
    task.out[number] = filtered_bins(task, number);
}
