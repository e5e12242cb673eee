// Fills in the taps of axes, by the rule of the host.
#include "dali_core/device_kernel.hpp"
#include "dali_core/kernels/resample/resample_sample.hpp"

extern "C" __global__ void fill_taps(const dali_core::TapsTask* tasks, int count) {
  using namespace dali_core;
  const int64_t number = sample_of_block();
  if (number >= count) return;
  const TapsTask task = tasks[number];
  const TapRule& rule = task.rule;
  const int64_t step = rule.num_outputs;
  for (int64_t i = first_item(); i < step; i += item_step()) {
    float* const weights = task.weights + i;
    int64_t start;
    if (rule.filter == ResampleFilter::kNearest) {
      start = rule.start_of(rule.output_at(i));
      *weights = 1;
    } else if (rule.exclude_outside) {
      start = rule.fill(i, ExactFilter{rule.filter}, weights, step);
    } else if (task.samples) {
      const SampledFilter filter{task.samples, filter_table_size(rule.filter) - 2};
      start = rule.fill(i, filter, weights, step);
    } else {
      start = rule.fill(i, LinearFilter{}, weights, step);
    }
    task.starts[i] = static_cast<int32_t>(start - task.base);
    if (task.rounded) round_output_weights(weights, rule.num_taps, step, task.rounded + i);
  }
}
