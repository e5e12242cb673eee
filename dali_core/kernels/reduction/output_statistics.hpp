// Means and squared deviations of the elements of each output of a reduction.
#pragma once

#include <cstdint>
#include <vector>

#include "dali_core/kernels/reduction/reduction.hpp"

namespace dali_core {

// Whether squared deviations come from exact sums: for these, the order does not matter.
inline bool has_exact_deviations(const ReductionPlan& plan, DataType type) {
  return !plan.runs && size_of(type) <= 2 && type != DataType::kFloat16;
}

// The tensor must have elements.
class OutputStatistics {
 public:
  OutputStatistics(const ReductionPlan& plan, const Tensor& input);

  void means(double* out);
  // Sums of squares of differences from `mean`, of which there is one number for all outputs or one
  // for each.
  void squared_deviations(const double* mean, bool one_mean, double* out);

 private:
  const std::vector<uint64_t>& exact_sums();

  const ReductionPlan& plan_;
  const Tensor& input_;
  const bool is_exact_;
  std::vector<uint64_t> sums_;  // empty until they are asked for
};

}  // namespace dali_core
