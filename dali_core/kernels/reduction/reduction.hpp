// Reducing dimensions of a tensor to one number: the plan for a shape, and the three ways of adding
// elements up on the host.
#pragma once

#include <algorithm>
#include <cstdint>

#include "dali_core/kernels/reduction/reduction_plan.hpp"
#include "dali_core/tensor.hpp"

namespace dali_core {

static_assert(kMostLoops == kMaxDims);

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
