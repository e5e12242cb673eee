#include "dali_core/kernels/resample/device_taps.hpp"

#include <algorithm>
#include <map>

#include "dali_core/device_tasks.hpp"

namespace dali_core {
namespace {

bool is_same(const ResampleAxis& a, const ResampleAxis& b) {
  return a.input_size == b.input_size && a.output_size == b.output_size && a.begin == b.begin &&
         a.end == b.end && a.filter == b.filter && a.antialias == b.antialias &&
         a.exclude_outside == b.exclude_outside && a.first_output == b.first_output &&
         a.made() == b.made() && a.reverse == b.reverse && a.running == b.running;
}

}  // namespace

DeviceTaps placed_at(char* memory, const DeviceTaps& taps) {
  const auto* weights = static_cast<const char*>(taps.weights);
  return {placed_at(memory, taps.starts), placed_at(memory, weights), taps.num_taps};
}

template <typename T>
T* TapsOfBatch::take(int64_t count) {
  constexpr size_t kAligned = 256;
  const size_t begin = num_bytes_;
  const auto bytes = static_cast<size_t>(checked_product(count, sizeof(T)));
  num_bytes_ = begin + (bytes + kAligned - 1) / kAligned * kAligned;
  return reinterpret_cast<T*>(begin);
}

DeviceTaps TapsOfBatch::add(AxisKind kind, const ResampleAxis& axis, const AxisTaps& taps,
                            bool is_fixed, int64_t base) {
  Last& last = last_[static_cast<size_t>(kind)];
  if (last.is_known && is_same(axis, last.axis) && is_fixed == last.is_fixed && base == last.base)
    return last.taps;
  const int64_t num_outputs = taps.num_outputs();
  const int64_t num_weights = checked_product(num_outputs, taps.num_taps());
  TapsTask task{};
  task.rule = taps.rule();
  task.base = base;
  task.starts = take<int32_t>(num_outputs);
  task.weights = take<float>(num_weights);
  if (is_fixed) task.rounded = take<int16_t>(num_weights);
  tasks_.push_back(task);
  most_outputs_ = std::max(most_outputs_, num_outputs);
  const void* const weights = is_fixed ? static_cast<void*>(task.rounded) : task.weights;
  last = {axis, is_fixed, base, {task.starts, weights, taps.num_taps()}, true};
  return last.taps;
}

void TapsOfBatch::launch(DeviceBatch& batch, char* memory) {
  constexpr unsigned kThreads = 128;
  std::map<ResampleFilter, const double*> uploaded;
  for (TapsTask& task : tasks_) {
    const ResampleFilter filter = task.rule.filter;
    if (const double* const samples = filter_samples(filter)) {
      const double*& on_device = uploaded[filter];
      if (on_device == nullptr) {
        const auto size = static_cast<size_t>(filter_table_size(filter));
        const UploadedArray<double> table = batch.upload<double>(size);
        std::copy_n(samples, size, table.host);
        on_device = table.device;
      }
      task.samples = on_device;
    }
    task.starts = placed_at(memory, task.starts);
    task.weights = placed_at(memory, task.weights);
    task.rounded = placed_at(memory, task.rounded);
  }
  launch_tasks(batch, "fill_taps", tasks_, blocks_for(most_outputs_, kThreads), kThreads);
}

}  // namespace dali_core
