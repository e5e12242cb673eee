// Asks for gathers, all of them in one launch.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "dali_core/device_tasks.hpp"
#include "dali_core/element_groups.hpp"
#include "dali_core/kernels/gather/gather.hpp"
#include "dali_core/types.hpp"

namespace dali_core {

// What is to be gathered: elements of the output in their order, with the bytes between neighbours
// along each dimension in the input.
struct Gather {
  const void* in = nullptr;
  void* out = nullptr;
  int64_t element_bytes = 1;
  Shape extents;
  int64_t strides[kMaxDims] = {};
};

// With as few dimensions, and as large units, as there can be.
inline GatherTask gather_task(const Gather& gather) {
  struct Dim {
    int64_t extent, stride;
  };
  std::vector<Dim> dims;  // from the last dimension on
  for (int i = gather.extents.ndim - 1; i >= 0; --i) {
    const int64_t extent = gather.extents[i];
    if (extent == 1) continue;
    const Dim dim{extent, gather.strides[i]};
    if (!dims.empty() && dim.stride == dims.back().stride * dims.back().extent &&
        dims.back().extent > 0) {
      dims.back() = {dim.extent * dims.back().extent, dims.back().stride};
    } else {
      dims.push_back(dim);
    }
  }
  int64_t unit = gather.element_bytes;
  if (!dims.empty() && dims.front().stride == unit) {
    // What lies together moves in units, if everything is a multiple of them.
    auto all = reinterpret_cast<uintptr_t>(gather.in) | reinterpret_cast<uintptr_t>(gather.out) |
               static_cast<uintptr_t>(dims.front().extent * unit);
    for (size_t i = 1; i < dims.size(); ++i) all |= static_cast<uintptr_t>(dims[i].stride);
    const auto common = static_cast<int64_t>(all & (~all + 1));
    int64_t wide = common == 0 ? 16 : std::min<int64_t>(common, 16);
    wide = std::max(wide, unit);
    if (wide > unit) {
      dims.front() = {dims.front().extent * unit / wide, wide};
      unit = wide;
    }
  }
  GatherTask task{};
  task.in = gather.in;
  task.out = gather.out;
  task.unit_bytes = static_cast<int>(unit);
  if (dims.empty()) dims.push_back({1, unit});
  task.count = 1;
  task.num_dims = static_cast<int>(dims.size());
  for (size_t i = 0; i < dims.size(); ++i) {
    const Dim& dim = dims[dims.size() - 1 - i];
    task.count *= dim.extent;
    task.extents[i] = quick_divisor(std::max<int64_t>(dim.extent, 1));
    task.strides[i] = dim.stride;
  }
  return task;
}

class Gathers {
 public:
  void add(const Gather& gather) {
    const GatherTask task = gather_task(gather);
    if (task.count == 0) return;
    largest_ = std::max(largest_, num_groups(task.count, kGroup - 1));
    tasks_.push_back(task);
  }

  void launch(DeviceBatch& batch) const {
    launch_tasks(batch, "gather_elements", tasks_, blocks_for(largest_, kGroupThreads),
                 kGroupThreads);
  }

 private:
  std::vector<GatherTask> tasks_;
  int64_t largest_ = 0;
};

}  // namespace dali_core
