// Multiplies elements and adds to them, four a thread.
#include "dali_core/device_groups.hpp"
#include "dali_core/kernels/color/brightness_contrast.hpp"

extern "C" __global__ void adjust_elements(const dali_core::AdjustTask* tasks, int count) {
  using namespace dali_core;
  if (sample_of_block() >= count) return;
  const AdjustTask task = tasks[sample_of_block()];
  const auto rule = [rule = task.rule](float value) { return adjust(value, rule); };
  const bool is_usual = with_usual_types(task.from, task.to, [&](auto from, auto to) {
    map_floats<decltype(from), decltype(to)>(task.in, task.out, task.count, rule);
  });
  if (is_usual) return;
  const int64_t lead = group_lead(task.out, size_of(task.to));
  const int64_t groups = num_groups(task.count, lead);
  for (int64_t group = first_item(); group < groups; group += item_step()) {
    const int64_t first = group * kGroup - lead;
    float values[kGroup] = {};
    with_type(task.from, [&](auto zero) {
      using T = decltype(zero);
      load_group(static_cast<const T*>(task.in), first, task.count,
                 is_group_aligned<T>(task.in, lead), values);
    });
    for (int i = 0; i < kGroup; ++i) values[i] = adjust(values[i], task.rule);
    with_type(task.to, [&](auto zero) {
      using T = decltype(zero);
      ElementGroup<T> converted;
      for (int i = 0; i < kGroup; ++i) converted.elements[i] = convert<T>(values[i]);
      store_group(static_cast<T*>(task.out), first, task.count, is_group_aligned<T>(task.out, lead),
                  converted);
    });
  }
}
