// fn.color_twist as a transform of colours; the rule for a pixel is mix_channels() of
// dali_core/color_matrix.hpp.
#pragma once

#include "dali_core/color_matrix.hpp"

namespace dali_core {

// Hue and saturation first, then contrast around `center`, then brightness.
inline ColorTransform color_twist(double hue, double saturation, double brightness, double contrast,
                                  double center) {
  return compose(scale_and_shift(brightness * contrast, brightness * (center - contrast * center)),
                 hue_and_saturation(hue, saturation));
}

}  // namespace dali_core
