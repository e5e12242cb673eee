// Which dimensions of a sample are mirrored: the arguments of fn.flip.
#pragma once

#include "dali_core/geometry.hpp"
#include "dali_core/operator.hpp"

namespace dali_core {

class FlipArguments {
 public:
  explicit FlipArguments(const OperatorConfig& config)
      : horizontal_(config, "horizontal"),
        vertical_(config, "vertical"),
        depthwise_(config, "depthwise") {}

  bool horizontal(const SampleContext& sample) const { return horizontal_.at_or(sample, 0) != 0; }
  bool vertical(const SampleContext& sample) const { return vertical_.at_or(sample, 0) != 0; }

  // Marks the dimensions that are mirrored; false if the image stays as it is.
  bool choose(const SampleContext& sample, const Tensor& image, const Layout& layout,
              bool (&flipped)[kMaxDims]) const {
    const ImageAxes axes = image_axes(layout);
    bool any = false;
    const auto mark = [&](bool is_wanted, int axis) {
      if (is_wanted && axis >= 0 && image.shape[axis] > 1) flipped[axis] = any = true;
    };
    mark(horizontal(sample), axes.width);
    mark(vertical(sample), axes.height);
    mark(depthwise_.at_or(sample, 0) != 0, axes.depth);
    return any && image.num_elements() > 0;
  }

 private:
  Argument<int> horizontal_, vertical_, depthwise_;
};

}  // namespace dali_core
