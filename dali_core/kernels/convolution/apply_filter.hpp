// The host loop of fn.filter and of its former name.
#pragma once

#include "dali_core/kernels/convolution/convolution.hpp"
#include "dali_core/kernels/convolution/per_axis_argument.hpp"

namespace dali_core {

class FilterOperator : public Operator {
 public:
  explicit FilterOperator(const OperatorConfig& config);

  void run(SampleContext& sample) const override;

 private:
  GeneralWindow window_of(const SampleContext& sample, const DataAxes& axes, int64_t num_frames,
                          int64_t frame) const;

  PerAxisArgument<int64_t> anchor_;
  Border border_;
  bool valid_;
  DataType dtype_;
};

}  // namespace dali_core
