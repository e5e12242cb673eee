// Applies a color matrix to images; shared by all operators that mix the channels of a pixel.
#pragma once

#include <cstdint>

#include "dali_core/color_image.hpp"
#include "dali_core/color_matrix.hpp"

namespace dali_core {

// A dense run of pixels. Of one channel, a colour is read as three equal ones, and of the result
// only the first is written.
struct ColorRun {
  const void* in;
  void* out;
  DataType input_type;
  DataType output_type;
  int64_t input_channels;   // 1 or 3
  int64_t output_channels;  // 1 or 3
  int64_t pixels;
};

void mix_colors(const ColorRun& run, const ColorMatrix& matrix);

// What becomes of an image of 3 channels.
struct ColorResult {
  Layout layout;
  DataType type;
  bool stays;  // because nothing changes
};

ColorResult color_result(const Tensor& image, const ColorTransform& transform,
                         const ColorOutputType& output_type);

// Output 0 of the sample becomes input 0, a colour image of 3 channels, transformed. Nothing is
// copied if that changes nothing.
void transform_image(SampleContext& sample, const ColorTransform& transform,
                     const ColorOutputType& output_type);

// Where contrast turns around: the middle of the brightness of images in 8 bits or in float.
inline double color_contrast_center(DataType input_type) {
  return input_type == DataType::kFloat || input_type == DataType::kFloat16 ? 0.5 : 128.0;
}

// An operator whose arguments give one transform for each sample.
template <typename Arguments>
class MixColors : public Operator, public PixelStep {
 public:
  explicit MixColors(const OperatorConfig& config) : arguments_(config), output_type_(config) {}

  void run(SampleContext& sample) const override {
    transform_image(sample, arguments_.of(sample), output_type_);
  }

 private:
  Arguments arguments_;
  ColorOutputType output_type_;
};

}  // namespace dali_core
