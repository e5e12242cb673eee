// Reductions on a device: parameters of kernels for one sample. Chunks are added up first, then
// what was left of them; where an output has one chunk, that is all.
#pragma once

#include <cstdint>

#include "dali_core/data_type.hpp"
#include "dali_core/kernels/reduction/reduction_plan.hpp"
#include "dali_core/kernels/reduction/reduction_rules.hpp"
#include "dali_core/quick_division.hpp"

namespace dali_core {

constexpr int kFoldThreads = 256;
constexpr int64_t kMostColumns = 512;  // of a block's outputs that a chunk has
// Outputs whose chunks a block joins: each by as many threads as there are lanes of chunks.
constexpr int kJoinedOutputs = kFoldThreads / static_cast<int>(kChunkLanes);

// How sums are kept: eight bytes, or, for moments, twice as many.
enum class SumType { kDouble, kSigned, kUnsigned };

struct FoldTask {
  const void* input;
  DataType type;
  Fold fold;
  SumType sum_type;
  ReductionPlan plan;
  int64_t num_chunks;  // of each output
  int64_t columns;     // outputs of a block that a chunk has
  int64_t num_items;   // chunks of all blocks and all their columns
  QuickDivisor chunks, parts, outputs;
  bool is_aligned;  // whether four neighbours can be loaded as one

  // Numbers that squares are taken around, one or as many as outputs. Without them, moments are
  // taken around their own means, which are written to `own_means`.
  const void* means;
  DataType mean_type;
  bool one_mean;
  double* own_means;
  uint64_t mask;  // of extremes, see ExtremeFolding

  uint64_t* partial;  // of each chunk and output; null if outputs have one chunk
  void* output;
  DataType output_type;
  Finish finish;
  double divisor;  // of means in double precision

  int64_t slots() const {
    const int64_t groups = (plan.lanes * columns + 3) / 4;
    return kFoldThreads / groups;
  }
  // Whether sums are kept with those of squares.
  bool has_two_numbers() const {
    return fold == Fold::kMoments || (fold == Fold::kSquares && sum_type != SumType::kDouble);
  }
};

}  // namespace dali_core
