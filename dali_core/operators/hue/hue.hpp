// fn.hue as a transform of colours; the rule for a pixel is mix_channels() of
// dali_core/color_matrix.hpp.
#pragma once

#include "dali_core/color_matrix.hpp"
#include "dali_core/operator.hpp"

namespace dali_core {

class HueArguments {
 public:
  explicit HueArguments(const OperatorConfig& config) : hue_(config, "hue") {}

  ColorTransform of(const SampleContext& sample) const {
    return hue_and_saturation(hue_.at_or(sample, 0), 1);
  }

 private:
  Argument<float> hue_;
};

}  // namespace dali_core
