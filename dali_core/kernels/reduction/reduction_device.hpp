// Reductions on a device: asks for the kernels that add up chunks, and for those that join them.
#pragma once

#include "dali_core/kernels/reduction/fold_task.hpp"
#include "dali_core/kernels/reduction/reduction.hpp"
#include "dali_core/kernels/tasks/task_operator.hpp"

namespace dali_core {

// Folds the elements of `input`, which is on the device. The caller finishes the sums.
FoldTask fold_task(const ReductionPlan& plan, Fold fold, SumType sum_type, const Tensor& input);

// Means as OutputStatistics finds them, in double precision.
FoldTask means_task(const ReductionPlan& plan, const Tensor& input, double* means);

// Squared deviations as OutputStatistics finds them. The caller says from which means.
FoldTask deviations_task(const ReductionPlan& plan, const Tensor& input);

class FoldTasks {
 public:
  void add(FoldTask task, TaskData& data);
  void launch(DeviceBatch& batch) const;

 private:
  KernelTasks<FoldTask> doubles_, integers_, extremes_, joined_;
};

}  // namespace dali_core
