// fn.hsv as a transform of colours; the rule for a pixel is mix_channels() of
// dali_core/color_matrix.hpp.
#pragma once

#include "dali_core/color_matrix.hpp"
#include "dali_core/operator.hpp"

namespace dali_core {

inline ColorTransform hsv(double hue, double saturation, double value) {
  return compose(scale_and_shift(value, 0), hue_and_saturation(hue, saturation));
}

class HsvArguments {
 public:
  explicit HsvArguments(const OperatorConfig& config)
      : hue_(config, "hue"), saturation_(config, "saturation"), value_(config, "value") {}

  ColorTransform of(const SampleContext& sample) const {
    return hsv(hue_.at_or(sample, 0), saturation_.at_or(sample, 1), value_.at_or(sample, 1));
  }

 private:
  Argument<float> hue_, saturation_, value_;
};

}  // namespace dali_core
