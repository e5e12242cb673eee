// fn.hsv as a transform of colours; the rule for a pixel is mix_channels() of
// dali_core/color_matrix.hpp.
#pragma once

#include "dali_core/color_matrix.hpp"

namespace dali_core {

inline ColorTransform hsv(double hue, double saturation, double value) {
  return compose(scale_and_shift(value, 0), hue_and_saturation(hue, saturation));
}

}  // namespace dali_core
