// Joins what was added up of chunks, and makes outputs of reductions from it.
#include "dali_core/kernels/reduction/folding.hpp"

namespace dali_core {

// A thread for each lane of chunks.
template <typename Folding>
inline __device__ void join_chunks_of(const FoldTask& task, uint64_t* shared) {
  constexpr int kNumbers = Folding::kNumbers;
  const int lane = static_cast<int>(threadIdx.x) / kJoinedOutputs;
  const int place = static_cast<int>(threadIdx.x) % kJoinedOutputs;
  uint64_t* const joined = shared + threadIdx.x * kNumbers;
  for (int64_t first = blockIdx.x * static_cast<int64_t>(kJoinedOutputs);
       first < task.plan.num_outputs; first += gridDim.x * static_cast<int64_t>(kJoinedOutputs)) {
    const int64_t output = first + place;
    const bool is_active = output < task.plan.num_outputs;
    Folding::keep(Folding::start(), joined);
    if (is_active) {
      const int64_t block = quotient(output, task.outputs);
      const int64_t column = output - block * task.plan.outputs;
      const uint64_t* const partial =
          task.partial + (block * task.num_chunks * task.plan.outputs + column) * kNumbers;
      const int64_t step = task.plan.outputs * kNumbers;
      // Several are loaded before the first of them is joined.
      constexpr int kTogether = 8;
      int64_t chunk = lane;
      for (; chunk + (kTogether - 1) * kChunkLanes < task.num_chunks;
           chunk += kTogether * kChunkLanes) {
        uint64_t loaded[kTogether][kNumbers];
#pragma unroll
        for (int k = 0; k < kTogether; ++k)
#pragma unroll
          for (int i = 0; i < kNumbers; ++i)
            loaded[k][i] = partial[(chunk + k * kChunkLanes) * step + i];
#pragma unroll
        for (int k = 0; k < kTogether; ++k) Folding::join(joined, loaded[k]);
      }
      for (; chunk < task.num_chunks; chunk += kChunkLanes)
        Folding::join(joined, partial + chunk * step);
    }
    __syncthreads();
    for (int half = static_cast<int>(kChunkLanes) / 2; half > 0; half /= 2) {
      if (lane < half) Folding::join(joined, joined + half * kJoinedOutputs * kNumbers);
      __syncthreads();
    }
    if (lane == 0 && is_active) write_output(task, output, joined);
    __syncthreads();
  }
}

}  // namespace dali_core

extern "C" __global__ void join_chunks(const dali_core::FoldTask* tasks, int count) {
  using namespace dali_core;
  __shared__ uint64_t shared[2 * kFoldThreads];
  if (sample_of_block() >= count) return;
  const FoldTask& task = tasks[sample_of_block()];
  const bool is_extreme = task.fold == Fold::kMin || task.fold == Fold::kMax;
  if (task.sum_type != SumType::kDouble) {
    if (is_extreme)
      join_chunks_of<ExtremeFolding<int64_t>>(task, shared);
    else if (task.has_two_numbers())
      join_chunks_of<IntegerFolding<AnyType, true>>(task, shared);
    else
      join_chunks_of<IntegerFolding<AnyType, false>>(task, shared);
  } else if (is_extreme) {
    join_chunks_of<ExtremeFolding<double>>(task, shared);
  } else {
    join_chunks_of<DoubleFolding<double, SumTerm>>(task, shared);
  }
}
