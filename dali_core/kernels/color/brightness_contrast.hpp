// fn.brightness_contrast, fn.brightness and fn.contrast: the rule for one element. The host loop
// and device kernels share this.
#pragma once

#include <cstdint>

#include "dali_core/data_type.hpp"
#include "dali_core/host_device.hpp"

namespace dali_core {

// output = input * factor + offset.
struct BrightnessContrast {
  float factor;
  float offset;
};

// What "brightness_shift * output_range + brightness * (center + contrast * (x - center))" is as
// one multiplication and one addition.
DC_HOST_DEV BrightnessContrast brightness_contrast(double brightness, double shift, double contrast,
                                                   double center, double output_range) {
  return {static_cast<float>(brightness * contrast),
          static_cast<float>(shift * output_range + brightness * (center - contrast * center))};
}

DC_HOST_DEV float adjust(float value, BrightnessContrast rule) {
  return value * rule.factor + rule.offset;
}

// What the kernel `adjust_elements` does for one sample.
struct AdjustTask {
  const void* in;
  void* out;
  int64_t count;
  DataType from;
  DataType to;
  BrightnessContrast rule;
};

}  // namespace dali_core
