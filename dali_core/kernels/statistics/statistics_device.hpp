// Means and squared deviations on a device, and the task of fn.normalize for a grid of them.
#pragma once

#include "dali_core/kernels/reduction/reduction_device.hpp"
#include "dali_core/kernels/statistics/grid.hpp"
#include "dali_core/kernels/statistics/normalize_task.hpp"

namespace dali_core {

// Two passes over the elements: means, and deviations from them. `input` is on the device.
class StatisticsTasks {
 public:
  void add_means(const ReductionPlan& plan, const Tensor& input, double* means, TaskData& data);
  // From given means, of which there is one or one for each output.
  void add_squares(const ReductionPlan& plan, const Tensor& input, const float* means,
                   bool one_mean, double* squares, TaskData& data);
  void add_both(const ReductionPlan& plan, const Tensor& input, double* means, double* squares,
                TaskData& data);

  void launch(DeviceBatch& batch) const {
    first_.launch(batch);
    second_.launch(batch);
  }

 private:
  FoldTasks first_, second_;
};

// Without the factors and the shift.
NormalizeTask normalize_task(const Grid& grid, const Tensor& input, const Tensor& output);

}  // namespace dali_core
