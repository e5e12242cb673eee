#include "dali_core/operators/brightness_contrast/adjust_image.hpp"

#include <algorithm>

#include "dali_core/convert_elements.hpp"
#include "dali_core/operators/brightness_contrast/brightness_contrast.hpp"
#include "dali_core/simd.hpp"

#define DC_SIMD_SOURCE "dali_core/operators/brightness_contrast/adjust_kernels.inc.hpp"
#include "dali_core/simd_each_level.hpp"

namespace dali_core {
namespace {

// Half of the positive range of integers, rounded up; 0.5 for floating point.
double middle_of_range(DataType type) {
  switch (type) {
    case DataType::kUInt8:
      return 128.0;
    case DataType::kInt16:
      return 16384.0;
    case DataType::kInt32:
      return 1073741824.0;
    default:
      return 0.5;
  }
}

double positive_range(DataType type) {
  switch (type) {
    case DataType::kUInt8:
      return 255.0;
    case DataType::kInt16:
      return 32767.0;
    case DataType::kInt32:
      return 2147483647.0;
    default:
      return 1.0;
  }
}

}  // namespace

BrightnessContrastArguments::BrightnessContrastArguments(const OperatorConfig& config)
    : brightness_(config, "brightness"),
      shift_(config, "brightness_shift"),
      contrast_(config, "contrast"),
      center_(config, "contrast_center"),
      output_type_(config) {}

AdjustedImage BrightnessContrastArguments::of(const SampleContext& sample) const {
  const Tensor& image = sample.input(0);
  AdjustedImage result;
  result.layout = color_layout(image);
  check_color_type(image.type);
  result.type = output_type_.of(image);
  const double center = center_.given() ? center_.at(sample) : middle_of_range(image.type);
  result.rule =
      brightness_contrast(brightness_.at_or(sample, 1), shift_.at_or(sample, 0),
                          contrast_.at_or(sample, 1), center, positive_range(result.type));
  result.stays = result.type == image.type && result.rule.factor == 1 && result.rule.offset == 0;
  return result;
}

void BrightnessContrastArguments::adjust_image(SampleContext& sample) const {
  const Tensor& image = sample.input(0);
  const AdjustedImage result = of(sample);
  if (result.stays) {
    sample.forward(0, image).layout = result.layout;
    return;
  }
  Tensor& output = sample.output(0, result.type, image.shape, result.layout);
  DC_SIMD_DISPATCH(adjust_elements, image.data, image.type, output.data, output.type,
                   image.num_elements(), result.rule);
}

}  // namespace dali_core
