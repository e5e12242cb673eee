#include "dali_core/kernels/color/mix_colors.hpp"

namespace dali_core {
namespace {

// Hue and saturation first, then contrast around `center`, then brightness.
ColorTransform color_twist(double hue, double saturation, double brightness, double contrast,
                           double center) {
  return compose(scale_and_shift(brightness * contrast, brightness * (center - contrast * center)),
                 hue_and_saturation(hue, saturation));
}

// Where contrast turns around: the middle of the brightness of images in 8 bits or in float.
double contrast_center(DataType type) {
  return type == DataType::kFloat || type == DataType::kFloat16 ? 0.5 : 128.0;
}

}  // namespace

class ColorTwist : public MixingOperator<ColorTwist> {
 public:
  explicit ColorTwist(const OperatorConfig& config)
      : brightness_(config, config.has("value") ? "value" : "brightness"),  // fn.hsv's name for it
        contrast_(config, "contrast"),
        hue_(config, "hue"),
        saturation_(config, "saturation"),
        output_type_(config) {}

  Result infer(const SampleContext& sample) const {
    const Tensor& image = sample.input(0);
    const Layout layout = color_layout(image);
    check_color_type(image.type);
    check_channels(image, 3);
    const ColorTransform transform =
        color_twist(hue_.at(sample), saturation_.at(sample), brightness_.at(sample),
                    contrast_.at(sample), contrast_center(image.type));
    const DataType type = output_type_.of(image);
    const bool stays = type == image.type && transform.is_identity();
    return {{type, image.shape, layout, stays ? 0 : -1}, ColorMatrix(transform)};
  }

 private:
  Argument<float> brightness_, contrast_, hue_, saturation_;
  ColorOutputType output_type_;
};

DALI_CORE_REGISTER_OPERATOR("color_twist", ColorTwist)

}  // namespace dali_core
