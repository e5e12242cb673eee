// Reductions on a device: adds up chunks. A thread has four lanes, or a short run. For device code
// only.
#pragma once

#include "dali_core/kernels/reduction/folding.hpp"

namespace dali_core {

// Elements ahead of a turn of loops.
DC_CALLED int64_t loop_offset(const ReductionPlan::Loop* loops, int count, int64_t number) {
  int64_t elements = 0;
  for (int i = count - 1; i > 0; --i) {
    const int64_t outer = quotient(number, loops[i].extent);
    elements += (number - outer * loops[i].extent) * loops[i].stride;
    number = outer;
  }
  return count > 0 ? elements + number * loops[0].stride : 0;
}

// Which part of the input a chunk is.
struct ChunkPlace {
  int64_t block;
  int64_t chunk;
  int64_t part;  // of the block's columns

  inline __device__ ChunkPlace(const FoldTask& task, int64_t item) {
    const int64_t number = quotient(item, task.chunks);
    chunk = item - number * task.num_chunks;
    block = quotient(number, task.parts);
    part = number - block * task.parts.divisor;
  }

  // Elements ahead of the block.
  inline __device__ int64_t block_offset(const ReductionPlan& plan) const {
    return loop_offset(plan.kept, plan.num_kept, block);
  }
};

// Calls `function(offset, first_row, end_row, terms)` for the segments of a chunk, or the part of
// one that it is, with the elements ahead of a segment, and its terms up to the end of the chunk.
template <typename Function>
inline __device__ void for_each_segment(const ReductionPlan& plan, int64_t chunk,
                                        const Function& function) {
  if (plan.segment_chunks > 1) {
    const int64_t segment = plan.segments == 1 ? 0 : chunk / plan.segment_chunks;
    const int64_t first = (chunk - segment * plan.segment_chunks) * kChunkRows * plan.lanes;
    const int64_t terms = min(plan.terms - first, kChunkRows * plan.lanes);
    function(loop_offset(plan.reduced, plan.num_reduced, segment) + first * plan.outputs, terms);
    return;
  }
  const int64_t first = chunk * plan.chunk_segments;
  const int64_t end = min(first + plan.chunk_segments, plan.segments);
#pragma unroll 1
  for (int64_t segment = first; segment < end; ++segment)
    function(loop_offset(plan.reduced, plan.num_reduced, segment), plan.terms);
}

// Four lanes of a chunk.
template <typename Folding>
class FourLanes {
 public:
  using From = typename Folding::From;
  using Value = typename Folding::Value;

  // `group` of `groups`, of `width` lanes in all.
  inline __device__ FourLanes(const FoldTask& task, int group, int groups, int width)
      : task_(task) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int place = task.is_aligned ? 4 * group + i : group + i * groups;
      // Lanes that are not there repeat the first one, and are not kept.
      is_there_[i] = place < width;
      places_[i] = is_there_[i] ? place : 0;
      sums_[i] = Folding::start();
    }
  }

  // Columns are outputs from the first one on.
  inline __device__ void set_columns(int64_t first_output, int columns) {
#pragma unroll
    for (int i = 0; i < 4; ++i)
      others_[i] = Folding::other(task_, first_output + places_[i] % columns);
  }

  // Adds `terms` elements of each output; rows have `stride` elements from one to the next.
  inline __device__ void add(const void* input, int64_t first, int64_t terms, int64_t stride,
                             int columns) {
    const int64_t lanes = task_.plan.lanes;
    const int64_t rows = terms >> shift();
    if constexpr (!std::is_same_v<From, AnyType>) {
      if (task_.is_aligned)
        add_rows<true>(input, first, rows, stride);
      else
        add_rows<false>(input, first, rows, stride);
    } else {
      add_rows<false>(input, first, rows, stride);
    }
    const int rest = static_cast<int>(terms - rows * lanes) * columns;
#pragma unroll
    for (int i = 0; i < 4; ++i)
      if (places_[i] < rest)
        Folding::add(sums_[i],
                     element_as<From, Value>(input, first + rows * stride + places_[i], task_.type),
                     others_[i]);
  }

  inline __device__ void keep(uint64_t* bits) const {
#pragma unroll
    for (int i = 0; i < 4; ++i)
      if (is_there_[i]) Folding::keep(sums_[i], bits + places_[i] * Folding::kNumbers);
  }

 private:
  inline __device__ int shift() const { return 63 - __clzll(task_.plan.lanes); }

  template <bool kAligned>
  inline __device__ void load(const void* input, int64_t first, Value (&values)[4]) const {
    if constexpr (kAligned && !std::is_same_v<From, AnyType>) {
      const auto group = *reinterpret_cast<const ElementGroup<From>*>(
          static_cast<const From*>(input) + first + places_[0]);
#pragma unroll
      for (int i = 0; i < 4; ++i)
        values[i] = element_as<From, Value>(group.elements, i, task_.type);
    } else {
#pragma unroll
      for (int i = 0; i < 4; ++i)
        values[i] = element_as<From, Value>(input, first + places_[i], task_.type);
    }
  }

  template <bool kAligned>
  inline __device__ void add_rows(const void* input, int64_t first, int64_t rows, int64_t stride) {
    int64_t row = 0;
    if constexpr (kAligned && !std::is_same_v<From, AnyType> && sizeof(From) < 4)
      row = add_small_rows(input, first, rows, stride);
#pragma unroll 1
    for (; row + 4 <= rows; row += 4) {
      Value values[4][4];
#pragma unroll
      for (int k = 0; k < 4; ++k) load<kAligned>(input, first + (row + k) * stride, values[k]);
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const Value column[4] = {values[0][i], values[1][i], values[2][i], values[3][i]};
        Folding::add_four(sums_[i], column, others_[i]);
      }
    }
#pragma unroll 1
    for (; row < rows; ++row) {
      Value values[4];
      load<kAligned>(input, first + row * stride, values);
#pragma unroll
      for (int i = 0; i < 4; ++i) Folding::add(sums_[i], values[i], others_[i]);
    }
  }

  // As many rows at a time as 16 words have; returns how many were added.
  inline __device__ int64_t add_small_rows(const void* input, int64_t first, int64_t rows,
                                           int64_t stride) {
    constexpr int kTogether = 16 / sizeof(From);
    using Group = ElementGroup<From>;
    const From* const from = static_cast<const From*>(input) + first + places_[0];
    int64_t row = 0;
#pragma unroll 1
    for (; row + kTogether <= rows; row += kTogether) {
      Group groups[kTogether];
#pragma unroll
      for (int k = 0; k < kTogether; ++k)
        groups[k] = *reinterpret_cast<const Group*>(from + (row + k) * stride);
#pragma unroll
      for (int k = 0; k < kTogether; k += 4) {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          Value column[4];
#pragma unroll
          for (int j = 0; j < 4; ++j)
            column[j] = element_as<From, Value>(groups[k + j].elements, i, task_.type);
          Folding::add_four(sums_[i], column, others_[i]);
        }
      }
    }
    return row;
  }

  const FoldTask& task_;
  int places_[4];
  bool is_there_[4];
  typename Folding::Sum sums_[4];
  typename Folding::Other others_[4];
};

// What was added up of an output goes to its chunk, or is all.
template <typename Folding>
inline __device__ void leave_chunk(const FoldTask& task, const ChunkPlace& place, int64_t column,
                                   const uint64_t* bits) {
  if (task.partial == nullptr) {
    write_output(task, place.block * task.plan.outputs + column, bits);
    return;
  }
  const int64_t number = (place.block * task.num_chunks + place.chunk) * task.plan.outputs + column;
#pragma unroll
  for (int i = 0; i < Folding::kNumbers; ++i)
    task.partial[number * Folding::kNumbers + i] = bits[i];
}

// As many chunks at a time as a block has threads for. `shared` has room for the lanes of all
// threads.
template <typename Folding>
inline __device__ void fold_rows(const FoldTask& task, uint64_t* shared) {
  const ReductionPlan& plan = task.plan;
  const int most_columns = static_cast<int>(task.columns);
  const int lanes = static_cast<int>(plan.lanes);
  const int groups = (lanes * most_columns + 3) / 4;
  const int slots = kFoldThreads / groups;
  const int slot = static_cast<int>(threadIdx.x) / groups;
  const int group = static_cast<int>(threadIdx.x) - slot * groups;
  uint64_t* const sums = shared + slot * groups * 4 * Folding::kNumbers;
  for (int64_t first = blockIdx.x * static_cast<int64_t>(slots); first < task.num_items;
       first += gridDim.x * static_cast<int64_t>(slots)) {
    const bool is_active = slot < slots && first + slot < task.num_items;
    const ChunkPlace place(task, is_active ? first + slot : first);
    const int64_t first_column = place.part * task.columns;
    const int columns = static_cast<int>(min(task.columns, plan.outputs - first_column));
    if (is_active) {
      FourLanes<Folding> four(task, group, groups, lanes * columns);
      four.set_columns(place.block * plan.outputs + first_column, columns);
      const int64_t ahead = place.block_offset(plan) + first_column;
      for_each_segment(plan, place.chunk, [&](int64_t offset, int64_t terms) {
        four.add(task.input, ahead + offset, terms, plan.lanes * plan.outputs, columns);
      });
      four.keep(sums);
    }
    __syncthreads();
    for (int half = lanes / 2; half > 0; half /= 2) {
      if (is_active)
        for (int i = group; i < half * columns; i += groups)
          Folding::join(sums + i * Folding::kNumbers,
                        sums + (half * columns + i) * Folding::kNumbers);
      __syncthreads();
    }
    if (is_active)
      for (int i = group; i < columns; i += groups)
        leave_chunk<Folding>(task, place, first_column + i, sums + i * Folding::kNumbers);
    __syncthreads();
  }
}

// A thread for each short run and each chunk.
template <typename Folding>
inline __device__ void fold_runs(const FoldTask& task) {
  using From = typename Folding::From;
  using Value = typename Folding::Value;
  const ReductionPlan& plan = task.plan;
  const int64_t threads = task.num_items * plan.outputs;
  for (int64_t thread = first_item(); thread < threads; thread += item_step()) {
    const int64_t item = quotient(thread, task.outputs);
    const int64_t column = thread - item * plan.outputs;
    const ChunkPlace place(task, item);
    const int64_t output = place.block * plan.outputs + column;
    const typename Folding::Other other = Folding::other(task, output);
    typename Folding::Sum sum = Folding::start();
    const int64_t ahead = place.block_offset(plan) + column * plan.terms;
    for_each_segment(plan, place.chunk, [&](int64_t offset, int64_t terms) {
      const int64_t begin = ahead + offset;
#pragma unroll 4
      for (int64_t i = 0; i < terms; ++i)
        Folding::add(sum, element_as<From, Value>(task.input, begin + i, task.type), other);
    });
    uint64_t bits[Folding::kNumbers];
    Folding::keep(sum, bits);
    leave_chunk<Folding>(task, place, column, bits);
  }
}

template <typename Folding>
inline __device__ void fold(const FoldTask& task, uint64_t* shared) {
  if (task.plan.runs)
    fold_runs<Folding>(task);
  else
    fold_rows<Folding>(task, shared);
}

}  // namespace dali_core
