// fn.color_space_conversion as a transform of colours in 8 bits; the rule for a pixel is
// mix_channels() of dali_core/color_matrix.hpp. Grey is the first of three channels.
#pragma once

#include <stdexcept>
#include <string>

#include "dali_core/color_image.hpp"
#include "dali_core/color_matrix.hpp"

namespace dali_core {

// The numbers are part of the public API (`types.DALIImageType`).
enum class ColorSpace : int { kRgb = 0, kBgr = 1, kGray = 2, kYCbCr = 3 };

inline int num_channels(ColorSpace space) { return space == ColorSpace::kGray ? 1 : 3; }

// The transform from RGB. YCbCr is that of ITU-R BT.601 with the ranges of studio equipment: 16 to
// 235 for Y, 16 to 240 for Cb and Cr.
inline ColorTransform from_rgb(ColorSpace space) {
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

inline ColorTransform to_rgb(ColorSpace space) {
  // A grey pixel is read as three equal channels already.
  return space == ColorSpace::kGray ? ColorTransform{} : inverse(from_rgb(space));
}

inline ColorTransform color_space_transform(ColorSpace from, ColorSpace to) {
  return compose(from_rgb(to), to_rgb(from));
}

inline ColorSpace color_space(const OperatorConfig& config, const char* argument) {
  const int number = config.get<int>(argument);
  if (number < static_cast<int>(ColorSpace::kRgb) || number > static_cast<int>(ColorSpace::kYCbCr))
    throw std::invalid_argument(std::string(argument) +
                                " must be types.RGB, types.BGR, types.GRAY or types.YCbCr (got "
                                "number " +
                                std::to_string(number) + "). Name the colour space.");
  return static_cast<ColorSpace>(number);
}

class ColorSpaceArguments {
 public:
  explicit ColorSpaceArguments(const OperatorConfig& config)
      : from_(color_space(config, "image_type")),
        to_(color_space(config, "output_type")),
        matrix_(color_space_transform(from_, to_)) {}

  bool stays() const { return from_ == to_; }
  int input_channels() const { return num_channels(from_); }
  int output_channels() const { return num_channels(to_); }
  const ColorMatrix& matrix() const { return matrix_; }

  // The layout of the output, if the image is one to convert.
  Layout checked_layout(const Tensor& image) const {
    const Layout layout = color_layout(image, true);
    if (image.type != DataType::kUInt8)
      throw std::invalid_argument("the input must be of type uint8 (got " +
                                  std::string(name_of(image.type)) + "). Use fn.cast before.");
    check_channels(image, input_channels());
    return layout;
  }

  Shape shape(const Tensor& image) const {
    Shape shape = image.shape;
    shape[shape.ndim - 1] = output_channels();
    return shape;
  }

 private:
  ColorSpace from_, to_;
  ColorMatrix matrix_;
};

}  // namespace dali_core
