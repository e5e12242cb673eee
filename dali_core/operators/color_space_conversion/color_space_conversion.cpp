#include "dali_core/operators/color_space_conversion/color_space_conversion.hpp"

#include "dali_core/operators/color_twist/mix_colors.hpp"

namespace dali_core {
namespace {

ColorSpace color_space(const OperatorConfig& config, const char* argument) {
  const int number = config.get<int>(argument);
  if (number < static_cast<int>(ColorSpace::kRgb) || number > static_cast<int>(ColorSpace::kYCbCr))
    throw std::invalid_argument(std::string(argument) +
                                " must be types.RGB, types.BGR, types.GRAY or types.YCbCr (got "
                                "number " +
                                std::to_string(number) + "). Name the colour space.");
  return static_cast<ColorSpace>(number);
}

}  // namespace

class ColorSpaceConversion : public Operator, public PixelStep {
 public:
  explicit ColorSpaceConversion(const OperatorConfig& config)
      : from_(color_space(config, "image_type")),
        to_(color_space(config, "output_type")),
        matrix_(color_space_transform(from_, to_)) {}

  void run(SampleContext& sample) const override {
    const Tensor& image = sample.input(0);
    const Layout layout = color_layout(image, true);
    if (image.type != DataType::kUInt8)
      throw std::invalid_argument("the input must be of type uint8 (got " +
                                  std::string(name_of(image.type)) + "). Use fn.cast before.");
    check_channels(image, num_channels(from_));
    if (from_ == to_) {
      sample.forward(0, image).layout = layout;
      return;
    }
    Shape shape = image.shape;
    shape[shape.ndim - 1] = num_channels(to_);
    Tensor& output = sample.output(0, DataType::kUInt8, shape, layout);
    mix_colors({image.data, output.data, image.type, output.type, num_channels(from_),
                num_channels(to_), image.num_elements() / num_channels(from_)},
               matrix_);
  }

 private:
  ColorSpace from_, to_;
  ColorMatrix matrix_;
};

DALI_CORE_REGISTER_OPERATOR("color_space_conversion", ColorSpaceConversion)

}  // namespace dali_core
