#include <algorithm>
#include <limits>
#include <stdexcept>
#include <type_traits>

#include "dali_core/operators/reductions/reduction_rules.hpp"
#include "dali_core/reduction.hpp"
#include "dali_core/simd.hpp"

#if DC_SIMD_X86
#include <immintrin.h>
#endif

namespace dali_core {
namespace {

// Counts one on in the loops, the innermost first; null at the end, when all count from 0 again.
template <typename T>
const T* next_block(const ReductionPlan::Loop* loops, int count, int64_t* place, const T* at) {
  for (int i = count - 1; i >= 0; --i) {
    if (++place[i] < loops[i].extent) return at + loops[i].stride;
    at -= (loops[i].extent - 1) * loops[i].stride;
    place[i] = 0;
  }
  return nullptr;
}

template <typename Function>
void visit_integer_type(DataType type, Function&& function) {
  visit_type(type, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>)
      function(zero);
    else
      throw std::logic_error("this reduction is one of integers");
  });
}

// Bool counts as 0 and 1.
DataType number_type(DataType type) { return type == DataType::kBool ? DataType::kUInt8 : type; }

}  // namespace
}  // namespace dali_core

#define DC_SIMD_SOURCE "dali_core/operators/reductions/reduce_kernels.inc.hpp"
#include "dali_core/simd_each_level.hpp"

namespace dali_core {

void reduce_to_integers(const ReductionPlan& plan, Fold fold, const Tensor& input, uint64_t* out) {
  const DataType type = number_type(input.type);
  if (fold == Fold::kSquares)
    DC_SIMD_DISPATCH(reductions::reduce_integers<SquareTerm>, plan, input.data, type, out);
  else
    DC_SIMD_DISPATCH(reductions::reduce_integers<SumTerm>, plan, input.data, type, out);
}

void reduce_to_doubles(const ReductionPlan& plan, Fold fold, const Tensor& input,
                       const double* mean, bool one_mean, double* out) {
  const DataType type = number_type(input.type);
  if (fold == Fold::kSquares)
    DC_SIMD_DISPATCH(reductions::reduce_doubles<SquareTerm>, plan, input.data, type, mean, one_mean,
                     out);
  else if (fold == Fold::kDeviations)
    DC_SIMD_DISPATCH(reductions::reduce_doubles<DeviationTerm>, plan, input.data, type, mean,
                     one_mean, out);
  else
    DC_SIMD_DISPATCH(reductions::reduce_doubles<SumTerm>, plan, input.data, type, mean, one_mean,
                     out);
}

void reduce_to_extremes(const ReductionPlan& plan, Fold fold, const Tensor& input, void* out) {
  const DataType type = number_type(input.type);
  if (fold == Fold::kMin)
    DC_SIMD_DISPATCH(reductions::reduce_extremes<MinTerm>, plan, input.data, type, out);
  else
    DC_SIMD_DISPATCH(reductions::reduce_extremes<MaxTerm>, plan, input.data, type, out);
}

}  // namespace dali_core
