// Arguments and host loop of fn.brightness_contrast, fn.brightness and fn.contrast.
#pragma once

#include "dali_core/color_image.hpp"
#include "dali_core/operators/brightness_contrast/brightness_contrast.hpp"

namespace dali_core {

// What becomes of an image.
struct AdjustedImage {
  Layout layout;
  DataType type = DataType::kNone;
  BrightnessContrast rule{};
  bool stays = false;  // because nothing changes
};

struct BrightnessContrastArguments {
  explicit BrightnessContrastArguments(const OperatorConfig& config);

  AdjustedImage of(const SampleContext& sample) const;

  // Adjusts input 0 of the sample. Nothing is copied if that changes nothing.
  void adjust_image(SampleContext& sample) const;

 private:
  Argument<float> brightness_, shift_, contrast_, center_;
  ColorOutputType output_type_;
};

}  // namespace dali_core
