// fn.saturation as a transform of colours; the rule for a pixel is mix_channels() of
// dali_core/color_matrix.hpp.
#pragma once

#include "dali_core/color_matrix.hpp"
#include "dali_core/operator.hpp"

namespace dali_core {

class SaturationArguments {
 public:
  explicit SaturationArguments(const OperatorConfig& config) : saturation_(config, "saturation") {}

  ColorTransform of(const SampleContext& sample) const {
    return hue_and_saturation(0, saturation_.at_or(sample, 1));
  }

 private:
  Argument<float> saturation_;
};

}  // namespace dali_core
