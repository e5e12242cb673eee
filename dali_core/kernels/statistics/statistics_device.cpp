#include "dali_core/kernels/statistics/statistics_device.hpp"

namespace dali_core {
namespace {

FoldTask squares_task(const ReductionPlan& plan, const Tensor& input, double* squares) {
  FoldTask task = deviations_task(plan, input);
  task.output = squares;
  task.output_type = DataType::kFloat64;
  task.finish = Finish::kSum;
  return task;
}

}  // namespace

void StatisticsTasks::add_means(const ReductionPlan& plan, const Tensor& input, double* means,
                                TaskData& data) {
  first_.add(means_task(plan, input, means), data);
}

void StatisticsTasks::add_squares(const ReductionPlan& plan, const Tensor& input,
                                  const float* means, bool one_mean, double* squares,
                                  TaskData& data) {
  FoldTask task = squares_task(plan, input, squares);
  task.means = means;
  task.mean_type = DataType::kFloat;
  task.one_mean = one_mean;
  first_.add(task, data);
}

void StatisticsTasks::add_both(const ReductionPlan& plan, const Tensor& input, double* means,
                               double* squares, TaskData& data) {
  FoldTask task = squares_task(plan, input, squares);
  if (task.fold == Fold::kMoments) {
    task.own_means = means;
    first_.add(task, data);
    return;
  }
  add_means(plan, input, means, data);
  task.means = means;
  task.mean_type = DataType::kFloat64;
  second_.add(task, data);
}

NormalizeTask normalize_task(const Grid& grid, const Tensor& input, const Tensor& output) {
  NormalizeTask task{};
  task.in = input.data;
  task.out = output.data;
  task.from = input.type;
  task.to = output.type;
  task.count = input.num_elements();
  task.run = quick_divisor(grid.run);
  task.period = quick_divisor(grid.period);
  for (const Grid::Dim& dim : grid.dims()) {
    task.extents[task.num_dims] = quick_divisor(dim.extent);
    task.is_reduced[task.num_dims++] = dim.is_reduced;
  }
  return task;
}

}  // namespace dali_core
