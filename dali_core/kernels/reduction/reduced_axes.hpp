// The arguments of all reductions that choose the reduced dimensions.
#pragma once

#include <vector>

#include "dali_core/operator.hpp"

namespace dali_core {

// The arguments axes, axis_names and keep_dims.
class ReducedAxes {
 public:
  explicit ReducedAxes(const OperatorConfig& config);

  // Marks the dimensions to reduce.
  void mark(const Tensor& input, bool (&is_reduced)[kMaxDims]) const;
  // Whether there is nothing to reduce, because `axes` or `axis_names` is empty.
  bool none() const { return given_ && axes_.empty() && names_.empty(); }
  Shape output_shape(const Tensor& input, const bool (&is_reduced)[kMaxDims]) const;
  Layout output_layout(const Tensor& input, const bool (&is_reduced)[kMaxDims]) const;

 private:
  bool given_;  // otherwise all dimensions are reduced
  std::vector<int64_t> axes_;
  Layout names_;
  bool keep_dims_;
};

}  // namespace dali_core
