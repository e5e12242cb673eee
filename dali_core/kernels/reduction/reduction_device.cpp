#include "dali_core/kernels/reduction/reduction_device.hpp"

#include <algorithm>

#include "dali_core/kernels/reduction/output_statistics.hpp"

namespace dali_core {
namespace {

// Whether the elements of four neighbouring lanes can be loaded as one, wherever they begin.
bool has_aligned_lanes(const ReductionPlan& plan, const Tensor& input) {
  int64_t all = plan.lanes * plan.outputs;
  for (int i = 0; i < plan.num_kept; ++i) all |= plan.kept[i].stride;
  for (int i = 0; i < plan.num_reduced; ++i) all |= plan.reduced[i].stride;
  const auto bytes = static_cast<uintptr_t>(std::min<int64_t>(4 * size_of(input.type), 16));
  return all % 4 == 0 && reinterpret_cast<uintptr_t>(input.data) % bytes == 0;
}

}  // namespace

FoldTask fold_task(const ReductionPlan& plan, Fold fold, SumType sum_type, const Tensor& input) {
  FoldTask task{};
  task.input = input.data;
  task.type = input.type == DataType::kBool ? DataType::kUInt8 : input.type;
  task.fold = fold;
  task.sum_type = sum_type;
  task.plan = plan;
  task.num_chunks = plan.num_chunks();
  const bool is_cut = !plan.runs && plan.outputs > kMostColumns;
  task.columns = is_cut ? kMostColumns : plan.outputs;
  const int64_t parts = (plan.outputs + task.columns - 1) / task.columns;
  task.num_items = plan.num_outputs / plan.outputs * parts * task.num_chunks;
  task.chunks = quick_divisor(task.num_chunks);
  task.parts = quick_divisor(parts);
  task.outputs = quick_divisor(plan.outputs);
  task.is_aligned = has_aligned_lanes(plan, input);
  return task;
}

FoldTask means_task(const ReductionPlan& plan, const Tensor& input, double* means) {
  // Doubles hold sums of 8 or 16 bits as well.
  const bool is_small = size_of(input.type) <= 2 && input.type != DataType::kFloat16;
  FoldTask task =
      fold_task(plan, Fold::kSum, is_small ? SumType::kSigned : SumType::kDouble, input);
  task.output = means;
  task.output_type = DataType::kFloat64;
  task.finish = Finish::kMean;
  task.divisor = static_cast<double>(plan.num_terms);
  return task;
}

FoldTask deviations_task(const ReductionPlan& plan, const Tensor& input) {
  if (!has_exact_deviations(plan, input.type))
    return fold_task(plan, Fold::kDeviations, SumType::kDouble, input);
  return fold_task(plan, Fold::kMoments, SumType::kUnsigned, input);
}

void FoldTasks::add(FoldTask task, TaskData& data) {
  const bool has_chunks = task.num_chunks > 1;
  if (has_chunks)
    task.partial = data.scratch<uint64_t>(task.num_chunks * task.plan.num_outputs *
                                          (task.has_two_numbers() ? 2 : 1));
  const bool is_extreme = task.fold == Fold::kMin || task.fold == Fold::kMax;
  KernelTasks<FoldTask>& tasks = is_extreme                          ? extremes_
                                 : task.sum_type == SumType::kDouble ? doubles_
                                                                     : integers_;
  const int64_t slots = task.plan.runs ? 1 : task.slots();
  tasks.add(task, task.plan.runs ? task.num_items * task.plan.outputs
                                 : (task.num_items + slots - 1) / slots * kFoldThreads);
  if (has_chunks) joined_.add(task, task.plan.num_outputs * kChunkLanes);
}

void FoldTasks::launch(DeviceBatch& batch) const {
  doubles_.launch(batch, "fold_doubles");
  integers_.launch(batch, "fold_integers");
  extremes_.launch(batch, "fold_extremes");
  joined_.launch(batch, "join_chunks");
}

}  // namespace dali_core
