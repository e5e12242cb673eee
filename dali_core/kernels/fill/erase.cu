// Copies elements, or erases them where they lie in a region.
#include "dali_core/device_kernel.hpp"
#include "dali_core/kernels/fill/erase.hpp"

namespace dali_core {

__device__ uint64_t load_bits(const void* from, int64_t index, int bytes) {
  switch (bytes) {
    case 1:
      return static_cast<const uint8_t*>(from)[index];
    case 2:
      return static_cast<const uint16_t*>(from)[index];
    case 4:
      return static_cast<const uint32_t*>(from)[index];
    default:
      return static_cast<const uint64_t*>(from)[index];
  }
}

__device__ bool is_inside(const ErasedRange* ranges, const int64_t* place, int num_dims) {
  for (int dim = 0; dim < num_dims; ++dim)
    if (place[dim] < ranges[dim].start || place[dim] >= ranges[dim].stop) return false;
  return true;
}

}  // namespace dali_core

extern "C" __global__ void erase_regions(const dali_core::EraseTask* tasks, int count) {
  using namespace dali_core;
  if (sample_of_block() >= count) return;
  const EraseTask& task = tasks[sample_of_block()];
  for (int64_t i = first_item(); i < task.count; i += item_step()) {
    int64_t place[kMaxErasedDims] = {};
    int64_t number = i;
    for (int dim = task.num_dims - 1; dim >= 0; --dim) {
      const int64_t rest = quotient(number, task.extents[dim]);
      place[dim] = number - rest * task.extents[dim].divisor;
      number = rest;
    }
    bool is_erased = false;
    for (int region = 0; region < task.num_regions && !is_erased; ++region)
      is_erased = is_inside(task.ranges + region * task.num_dims, place, task.num_dims);
    const int64_t channel = task.channel_axis < 0 ? 0 : place[task.channel_axis];
    store_bits(task.out, i, task.bytes,
               is_erased ? task.values[channel] : load_bits(task.in, i, task.bytes));
  }
}
