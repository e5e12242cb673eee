// The host loop of fn.brightness_contrast, fn.brightness and fn.contrast.
#pragma once

#include "dali_core/color_image.hpp"

namespace dali_core {

struct BrightnessContrastArguments {
  explicit BrightnessContrastArguments(const OperatorConfig& config);

  // Adjusts input 0 of the sample. Nothing is copied if that changes nothing.
  void adjust_image(SampleContext& sample) const;

 private:
  Argument<float> brightness_, shift_, contrast_, center_;
  ColorOutputType output_type_;
};

}  // namespace dali_core
