// What operators that draw numbers on a device have in common.
#pragma once

#include <algorithm>

#include "dali_core/device_operator.hpp"
#include "dali_core/element_groups.hpp"

namespace dali_core {

// Declares output 0 of all samples, fills in a task for each, and runs the kernel, each thread of
// which draws `per_thread` numbers. `describe(task, sample)` adds what is the operator's own.
template <typename Task, typename ShapeOf, typename Describe>
void draw_on_device(DeviceBatch& batch, const char* kernel, DataType type, uint64_t seed,
                    int per_thread, ShapeOf&& shape_of, Describe&& describe) {
  batch.for_each(
      [&](int i, SampleContext& sample) { batch.declare(0, i, type, shape_of(sample)); });
  batch.allocate();
  const auto tasks = batch.upload<Task>(static_cast<size_t>(batch.size()));
  int64_t largest = 0;
  batch.for_each([&](int i, SampleContext& sample) {
    Task& task = tasks.host[i];
    task = Task{};
    task.out = batch.output(0, i).data;
    task.count = batch.output(0, i).num_elements();
    task.seed = seed;
    task.key = sample.key();
    task.type = type;
    describe(task, sample);
    largest = std::max(largest, task.count);
  });
  batch.launch(kernel, blocks_for(largest, kGroupThreads, per_thread), kGroupThreads, tasks.device,
               batch.size());
}

}  // namespace dali_core
