// Colours as vectors: every operator that mixes the channels of a pixel is one 3 x 3 matrix and an
// offset. Matrices are put together in double precision once a sample; pixels are mixed in float.
#pragma once

#include <cmath>

#include "dali_core/host_device.hpp"

namespace dali_core {

// output[row] = sum of factors[row][column] * input[column] + offsets[row].
struct ColorTransform {
  double factors[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  double offsets[3] = {0, 0, 0};

  bool is_identity() const {
    for (int row = 0; row < 3; ++row) {
      if (offsets[row] != 0) return false;
      for (int column = 0; column < 3; ++column)
        if (factors[row][column] != (row == column ? 1.0 : 0.0)) return false;
    }
    return true;
  }
};

// The same in the precision of pixels.
struct ColorMatrix {
  float factors[3][3];
  float offsets[3];

  explicit ColorMatrix(const ColorTransform& transform) {
    for (int row = 0; row < 3; ++row) {
      offsets[row] = static_cast<float>(transform.offsets[row]);
      for (int column = 0; column < 3; ++column)
        factors[row][column] = static_cast<float>(transform.factors[row][column]);
    }
  }
};

// The rule for one channel of one pixel. The order of the sum is fixed, so that all builds give
// the same bits.
DC_HOST_DEV float mix_channels(const float (&factors)[3], float offset, float first, float second,
                               float third) {
  return first * factors[0] + second * factors[1] + third * factors[2] + offset;
}

// The transform that does `first`, then `second`.
inline ColorTransform compose(const ColorTransform& second, const ColorTransform& first) {
  ColorTransform both;
  for (int row = 0; row < 3; ++row) {
    both.offsets[row] = second.offsets[row];
    for (int column = 0; column < 3; ++column) {
      both.factors[row][column] = 0;
      both.offsets[row] += second.factors[row][column] * first.offsets[column];
      for (int k = 0; k < 3; ++k)
        both.factors[row][column] += second.factors[row][k] * first.factors[k][column];
    }
  }
  return both;
}

// The transform that undoes `transform`, whose matrix must not be singular.
inline ColorTransform inverse(const ColorTransform& transform) {
  const auto& f = transform.factors;
  const auto minor = [&](int row, int column) {
    const int r0 = (row + 1) % 3, r1 = (row + 2) % 3;
    const int c0 = (column + 1) % 3, c1 = (column + 2) % 3;
    return f[r0][c0] * f[r1][c1] - f[r0][c1] * f[r1][c0];
  };
  const double determinant = f[0][0] * minor(0, 0) + f[0][1] * minor(0, 1) + f[0][2] * minor(0, 2);
  ColorTransform result;
  for (int row = 0; row < 3; ++row) {
    result.offsets[row] = 0;
    for (int column = 0; column < 3; ++column) {
      result.factors[row][column] = minor(column, row) / determinant;
      result.offsets[row] -= result.factors[row][column] * transform.offsets[column];
    }
  }
  return result;
}

// Turns the hue by `degrees` and multiplies the saturation. In YIQ, the colour space of NTSC
// television, the grey of a colour is Y and its hue the angle of (I, Q), so this is a rotation and
// a scaling of the plane of I and Q.
inline ColorTransform hue_and_saturation(double degrees, double saturation) {
  if (degrees == 0 && saturation == 1) return {};
  constexpr double pi = 3.14159265358979323846;
  const double cosine = std::cos(degrees / 180 * pi) * saturation;
  const double sine = std::sin(degrees / 180 * pi) * saturation;
  const ColorTransform rgb_to_yiq{
      {{0.299, 0.587, 0.114}, {0.596, -0.274, -0.321}, {0.211, -0.523, 0.311}}, {0, 0, 0}};
  const ColorTransform turn{{{1, 0, 0}, {0, cosine, sine}, {0, -sine, cosine}}, {0, 0, 0}};
  return compose(inverse(rgb_to_yiq), compose(turn, rgb_to_yiq));
}

// Multiplies all channels, then adds to them.
inline ColorTransform scale_and_shift(double factor, double offset) {
  return {{{factor, 0, 0}, {0, factor, 0}, {0, 0, factor}}, {offset, offset, offset}};
}

}  // namespace dali_core
