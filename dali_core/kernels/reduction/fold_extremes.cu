// Finds the least and the greatest elements for reductions.
#include "dali_core/kernels/reduction/fold_chunks.hpp"

extern "C" __global__ void __launch_bounds__(dali_core::kFoldThreads, 4)
    fold_extremes(const dali_core::FoldTask* tasks, int count) {
  using namespace dali_core;
  __shared__ uint64_t shared[4 * kFoldThreads];
  if (sample_of_block() >= count) return;
  const FoldTask& task = tasks[sample_of_block()];
  switch (task.type) {
    case DataType::kUInt8:
      return fold<ExtremeFolding<uint8_t>>(task, shared);
    case DataType::kFloat16:
      return fold<ExtremeFolding<Half>>(task, shared);
    case DataType::kFloat:
      return fold<ExtremeFolding<float>>(task, shared);
    case DataType::kFloat64:
      return fold<ExtremeFolding<double>>(task, shared);
    default:
      return fold<ExtremeFolding<AnyType>>(task, shared);
  }
}
