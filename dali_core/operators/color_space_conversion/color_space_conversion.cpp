#include <stdexcept>
#include <string>

#include "dali_core/kernels/color/mix_colors.hpp"

namespace dali_core {
namespace {

// The numbers are part of the public API (`types.DALIImageType`).
enum class ColorSpace : int { kRgb = 0, kBgr = 1, kGray = 2, kYCbCr = 3 };

int num_channels(ColorSpace space) { return space == ColorSpace::kGray ? 1 : 3; }

// The transform from RGB. YCbCr is that of ITU-R BT.601 with the ranges of studio equipment: 16 to
// 235 for Y, 16 to 240 for Cb and Cr.
ColorTransform from_rgb(ColorSpace space) {
  switch (space) {
    case ColorSpace::kBgr:
      return {{{0, 0, 1}, {0, 1, 0}, {1, 0, 0}}, {0, 0, 0}};
    case ColorSpace::kGray:
      return {{{0.299, 0.587, 0.114}, {0.299, 0.587, 0.114}, {0.299, 0.587, 0.114}}, {0, 0, 0}};
    case ColorSpace::kYCbCr:
      return {{{65.481 / 255, 128.553 / 255, 24.966 / 255},
               {-37.797 / 255, -74.203 / 255, 112.0 / 255},
               {112.0 / 255, -93.786 / 255, -18.214 / 255}},
              {16, 128, 128}};
    default:
      return {};
  }
}

ColorTransform to_rgb(ColorSpace space) {
  // A grey pixel is read as three equal channels already.
  return space == ColorSpace::kGray ? ColorTransform{} : inverse(from_rgb(space));
}

ColorTransform color_space_transform(ColorSpace from, ColorSpace to) {
  return compose(from_rgb(to), to_rgb(from));
}

}  // namespace

// Grey is the first of three channels.
class ColorSpaceConversion : public MixingOperator<ColorSpaceConversion> {
 public:
  explicit ColorSpaceConversion(const OperatorConfig& config)
      : from_(config.get<ColorSpace>("image_type")),
        to_(config.get<ColorSpace>("output_type")),
        matrix_(color_space_transform(from_, to_)) {}

  Result infer(const SampleContext& sample) const {
    const Tensor& image = sample.input(0);
    const Layout layout = color_layout(image, true);
    if (image.type != DataType::kUInt8)
      throw std::invalid_argument("the input must be of type uint8 (got " +
                                  std::string(name_of(image.type)) + "). Use fn.cast before.");
    check_channels(image, num_channels(from_));
    Shape shape = image.shape;
    shape[shape.ndim - 1] = num_channels(to_);
    return {{image.type, shape, layout, from_ == to_ ? 0 : -1}, matrix_};
  }

 private:
  ColorSpace from_, to_;
  ColorMatrix matrix_;
};

DALI_CORE_REGISTER_OPERATOR("color_space_conversion", ColorSpaceConversion)

}  // namespace dali_core
