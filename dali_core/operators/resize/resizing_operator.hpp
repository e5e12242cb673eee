// Operators that resize, on the host.
#pragma once

#include "dali_core/image_chain.hpp"
#include "dali_core/operator.hpp"
#include "dali_core/operators/resize/resize_image.hpp"

namespace dali_core {

template <typename Rule>
class ResizingOperator : public Operator, public ResampleStep {
 public:
  explicit ResizingOperator(const OperatorConfig& config) : rule_(config) {}

  void run(SampleContext& sample) const override {
    const Tensor& input = sample.input(0);
    const ResizeView view(input, Rule::kHasVolumes);
    ResampleAxis axes[3];
    rule_.choose(sample, view, axes);
    resize_image(sample, view, axes, rule_.output_type(input.type));
  }

  bool reshape(SampleContext& sample, ImageGeometry& image) const override {
    return rule_.reshape(sample, image);
  }

 private:
  Rule rule_;
};

}  // namespace dali_core
