// fn.resize: how the axes of a sample are resampled. Operators that resize differ in this only; see
// resizing_operator.hpp and resizing_on_device.hpp for what they share.
#pragma once

#include "dali_core/operator.hpp"
#include "dali_core/operators/resize/resize_image.hpp"
#include "dali_core/operators/resize/resize_size.hpp"

namespace dali_core {

class ResizeRule {
 public:
  static constexpr bool kHasVolumes = true;

  explicit ResizeRule(const OperatorConfig& config) : size_(config), filters_(config) {}

  void choose(SampleContext& sample, const ResizeView& view, ResampleAxis* axes) const {
    size_.choose(sample, view, axes);
    for (int i = 0; i < view.num_axes; ++i) filters_.choose(sample, axes[i]);
  }

  DataType output_type(DataType input) const { return filters_.output_type(input); }

  bool reshape(SampleContext& sample, ImageGeometry& image) const {
    ResampleAxis axes[2];
    choose(sample, ResizeView(image.height(), image.width()), axes);
    return resize_in_chain(image, axes, output_type(image.type()));
  }

 private:
  ResizeSize size_;
  ResizeFilters filters_;
};

}  // namespace dali_core
