// Reducing dimensions of a tensor to one number: which elements belong to which output, and the
// three ways of adding them up. The order in which numbers are added depends on the shape alone,
// so results are the same for all instruction sets, and on devices:
//
// - The elements of an output, as they follow each other in memory, go to its lanes in turn: a row
//   is what adds one element to each lane. Of four rows of a segment, the elements of a lane are
//   added to each other first: (0 + 1) + (2 + 3).
// - After `kChunkRows` rows, or as many segments as have so many, lanes are joined pairwise, the
//   upper half to the lower one, and others begin. That is a chunk.
// - Chunks go to `kChunkLanes` lanes in turn, which are joined in the same way.
//
// Short runs have one lane, and no elements of it are added to each other first.
#pragma once

#include <algorithm>
#include <cstdint>

#include "dali_core/tensor.hpp"

namespace dali_core {

// What is added up for each output.
enum class Fold { kSum, kSquares, kDeviations, kMin, kMax };

constexpr int64_t kChunkRows = 128;
constexpr int64_t kChunkLanes = 4;
constexpr int64_t kMostLanes = 128;  // of all outputs of a block

// A tensor as nested loops around a block. A block gives `outputs` results side by side, each of
// `terms` elements that lie together (`runs`), or that are rows of `outputs` elements.
struct ReductionPlan {
  struct Loop {
    int64_t extent;
    int64_t stride;
  };
  bool runs = false;
  int64_t terms = 1;
  int64_t outputs = 1;
  int num_kept = 0;  // loops around the block, outermost first
  int num_reduced = 0;
  Loop kept[kMaxDims];
  Loop reduced[kMaxDims];

  int64_t num_outputs = 1;  // of the whole tensor
  int64_t num_terms = 1;    // elements that one output stands for

  // The order of sums. A segment is what a block has of an output.
  int64_t lanes = 1;  // a power of 2
  int64_t segments = 1;
  int64_t chunk_segments = 1;  // of a chunk, unless segments have several chunks
  int64_t segment_chunks = 1;

  int64_t num_chunks() const {
    return (segments + chunk_segments - 1) / chunk_segments * segment_chunks;
  }
};

// Runs of more terms are worth starting for each output; shorter ones are added output by output.
constexpr int64_t kShortRun = 32;

// Finds the order of sums in a block.
inline void plan_order(ReductionPlan& plan) {
  if (!plan.runs) {
    const int64_t most = std::min(plan.terms, kMostLanes / plan.outputs);
    while (2 * plan.lanes <= most) plan.lanes *= 2;
  }
  for (int i = 0; i < plan.num_reduced; ++i) plan.segments *= plan.reduced[i].extent;
  const int64_t rows = (plan.terms + plan.lanes - 1) / plan.lanes;
  if (rows <= kChunkRows)
    plan.chunk_segments = kChunkRows / std::max<int64_t>(rows, 1);
  else
    plan.segment_chunks = (rows + kChunkRows - 1) / kChunkRows;
}

inline ReductionPlan plan_reduction(const Shape& shape, const bool (&is_reduced)[kMaxDims]) {
  ReductionPlan plan;
  ReductionPlan::Loop loops[kMaxDims];
  bool reduced[kMaxDims] = {};
  int count = 0;
  int64_t stride = shape.num_elements();
  for (int i = 0; i < shape.ndim; ++i) {
    const int64_t extent = shape[i];
    (is_reduced[i] ? plan.num_terms : plan.num_outputs) *= extent;
    if (extent <= 1) continue;
    stride /= extent;
    if (count > 0 && reduced[count - 1] == is_reduced[i]) {
      loops[count - 1] = {loops[count - 1].extent * extent, stride};
    } else {
      loops[count] = {extent, stride};
      reduced[count++] = is_reduced[i];
    }
  }
  if (count > 0 && reduced[count - 1]) {
    plan.terms = loops[--count].extent;
    if (plan.terms <= kShortRun && count > 0) {
      plan.runs = true;
      plan.outputs = loops[--count].extent;
    }
  } else if (count > 0) {
    plan.outputs = loops[--count].extent;
    if (count > 0) plan.terms = loops[--count].extent;
  }
  for (int i = 0; i < count; ++i) {
    if (reduced[i])
      plan.reduced[plan.num_reduced++] = loops[i];
    else
      plan.kept[plan.num_kept++] = loops[i];
  }
  plan_order(plan);
  return plan;
}

// Each writes `num_outputs` results. The tensor must have elements.

// Integers or bool: sums of kSum or kSquares modulo 2^64.
void reduce_to_integers(const ReductionPlan& plan, Fold fold, const Tensor& input, uint64_t* out);

// Any type: sums of kSum, kSquares, or of kDeviations from `mean`, of which there is one number
// for all outputs or one for each.
void reduce_to_doubles(const ReductionPlan& plan, Fold fold, const Tensor& input,
                       const double* mean, bool one_mean, double* out);

// Any type but float16: kMin or kMax; the results have the input's type. NaN is passed over; of NaN
// alone comes the number that every other would replace.
void reduce_to_extremes(const ReductionPlan& plan, Fold fold, const Tensor& input, void* out);

}  // namespace dali_core
