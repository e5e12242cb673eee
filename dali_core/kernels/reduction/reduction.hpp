// Reducing dimensions of a tensor to one number: which elements belong to which output, and the
// three ways of adding them up. The order in which numbers are added depends on the shape alone,
// so results are the same for all instruction sets.
#pragma once

#include <cstdint>

#include "dali_core/tensor.hpp"

namespace dali_core {

// What is added up for each output.
enum class Fold { kSum, kSquares, kDeviations, kMin, kMax };

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
};

// Runs of more terms are worth starting for each output; shorter ones are added output by output.
constexpr int64_t kShortRun = 32;

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
