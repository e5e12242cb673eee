// fn.color_twist as a transform of colours; the rule for a pixel is mix_channels() of
// dali_core/color_matrix.hpp.
#pragma once

#include "dali_core/color_matrix.hpp"
#include "dali_core/operator.hpp"
#include "dali_core/operators/color_twist/mix_colors.hpp"

namespace dali_core {

// Hue and saturation first, then contrast around `center`, then brightness.
inline ColorTransform color_twist(double hue, double saturation, double brightness, double contrast,
                                  double center) {
  return compose(scale_and_shift(brightness * contrast, brightness * (center - contrast * center)),
                 hue_and_saturation(hue, saturation));
}

class ColorTwistArguments {
 public:
  explicit ColorTwistArguments(const OperatorConfig& config)
      : brightness_(config, "brightness"),
        contrast_(config, "contrast"),
        hue_(config, "hue"),
        saturation_(config, "saturation") {}

  ColorTransform of(const SampleContext& sample) const {
    const double center = color_contrast_center(sample.input(0).type);
    return color_twist(hue_.at_or(sample, 0), saturation_.at_or(sample, 1),
                       brightness_.at_or(sample, 1), contrast_.at_or(sample, 1), center);
  }

 private:
  Argument<float> brightness_, contrast_, hue_, saturation_;
};

}  // namespace dali_core
