// Mirrors points, a coordinate a thread, and boxes, one a thread.
#include "dali_core/device_kernel.hpp"
#include "dali_core/kernels/boxes/points.hpp"

extern "C" __global__ void flip_coordinates(const dali_core::CoordinateTask* tasks, int count) {
  using namespace dali_core;
  if (sample_of_block() >= count) return;
  const CoordinateTask& task = tasks[sample_of_block()];
  for (int64_t number = first_item(); number < task.count; number += item_step())
    flip_coordinate(task, number);
}

extern "C" __global__ void flip_boxes(const dali_core::BoxFlipTask* tasks, int count) {
  using namespace dali_core;
  if (sample_of_block() >= count) return;
  const BoxFlipTask& task = tasks[sample_of_block()];
  for (int64_t number = first_item(); number < task.count; number += item_step())
    flip_box(task, number);
}
