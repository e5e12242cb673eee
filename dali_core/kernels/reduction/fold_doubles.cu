// Adds up elements of reductions in double precision.
#include "dali_core/kernels/reduction/fold_chunks.hpp"

namespace dali_core {

template <typename From>
inline __device__ void fold_doubles_of(const FoldTask& task, uint64_t* shared) {
  if (task.fold == Fold::kSum)
    fold<DoubleFolding<From, SumTerm>>(task, shared);
  else
    fold<DoubleFolding<From, DeviationTerm>>(task, shared);
}

}  // namespace dali_core

extern "C" __global__ void __launch_bounds__(dali_core::kFoldThreads, 4)
    fold_doubles(const dali_core::FoldTask* tasks, int count) {
  using namespace dali_core;
  __shared__ uint64_t shared[4 * kFoldThreads];
  if (sample_of_block() >= count) return;
  const FoldTask& task = tasks[sample_of_block()];
  if (task.type == DataType::kFloat)
    fold_doubles_of<float>(task, shared);
  else if (task.type == DataType::kFloat16)
    fold_doubles_of<Half>(task, shared);
  else
    fold_doubles_of<AnyType>(task, shared);
}
