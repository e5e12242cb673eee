// Compares each number with each class.
#include "dali_core/device_kernel.hpp"
#include "dali_core/kernels/fill/one_hot.hpp"

extern "C" __global__ void mark_classes(const dali_core::OneHotTask* tasks, int count) {
  using namespace dali_core;
  if (sample_of_block() >= count) return;
  const OneHotTask task = tasks[sample_of_block()];
  for (int64_t i = first_item(); i < task.count; i += item_step()) {
    const int64_t row = quotient(i, task.inner);
    const int64_t outer = quotient(row, task.num_classes);
    const int64_t number = outer * task.inner + (i - row * task.inner);
    int64_t own = -1;
    with_type(task.from, [&](auto zero) {
      own = class_of(static_cast<const decltype(zero)*>(task.in)[number], task.num_classes);
    });
    const bool is_on = own == row - outer * task.num_classes;
    store_bits(task.out, i, task.bytes, is_on ? task.on_value : task.off_value);
  }
}
