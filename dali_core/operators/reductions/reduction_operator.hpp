// What all reductions share: which dimensions are reduced, and to which type.
#pragma once

#include <vector>

#include "dali_core/operator.hpp"
#include "dali_core/operators/reductions/reduction_rules.hpp"
#include "dali_core/reduction.hpp"

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

// sum, mean, mean_square and rms.
class SumReduction : public Operator {
 public:
  SumReduction(const OperatorConfig& config, Fold fold, Finish finish);
  void run(SampleContext& sample) const override;

 private:
  DataType output_type(DataType input) const;
  bool is_exact(DataType input, DataType output) const;

  ReducedAxes axes_;
  Fold fold_;
  Finish finish_;
  DataType dtype_;
};

// min and max.
class ExtremeReduction : public Operator {
 public:
  ExtremeReduction(const OperatorConfig& config, Fold fold) : axes_(config), fold_(fold) {}
  void run(SampleContext& sample) const override;

 private:
  ReducedAxes axes_;
  Fold fold_;
};

// variance and std_dev.
class DeviationReduction : public Operator {
 public:
  DeviationReduction(const OperatorConfig& config, Finish finish)
      : axes_(config), finish_(finish), ddof_(config.get_or<int64_t>("ddof", 0)) {}
  void run(SampleContext& sample) const override;

 private:
  ReducedAxes axes_;
  Finish finish_;
  int64_t ddof_;
};

}  // namespace dali_core
