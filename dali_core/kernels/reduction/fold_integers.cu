// Adds up elements of reductions, and their squares, as integers.
#include "dali_core/kernels/reduction/fold_chunks.hpp"

namespace dali_core {

template <typename From>
inline __device__ void fold_integers_of(const FoldTask& task, uint64_t* shared) {
  if (task.fold == Fold::kSum)
    fold<IntegerFolding<From, false>>(task, shared);
  else
    fold<IntegerFolding<From, true>>(task, shared);
}

}  // namespace dali_core

extern "C" __global__ void __launch_bounds__(dali_core::kFoldThreads, 4)
    fold_integers(const dali_core::FoldTask* tasks, int count) {
  using namespace dali_core;
  __shared__ uint64_t shared[2 * 4 * kFoldThreads];
  if (sample_of_block() >= count) return;
  const FoldTask& task = tasks[sample_of_block()];
  if (task.type == DataType::kUInt8)
    fold_integers_of<uint8_t>(task, shared);
  else if (task.type == DataType::kInt16)
    fold_integers_of<int16_t>(task, shared);
  else
    fold_integers_of<AnyType>(task, shared);
}
