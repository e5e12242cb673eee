// Affine transforms of points of up to six dimensions: out = M * in + T, as the matrix [M T].
#pragma once

#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

namespace dali_core {

constexpr int kMaxTransformDims = 6;

struct AffineTransform {
  int ndim = 0;
  double matrix[kMaxTransformDims][kMaxTransformDims + 1] = {};

  explicit AffineTransform(int dims) : ndim(dims) {
    for (int i = 0; i < dims; ++i) matrix[i][i] = 1;
  }

  double& translation(int row) { return matrix[row][ndim]; }
  double translation(int row) const { return matrix[row][ndim]; }

  // Makes the linear part act around `center` instead of the origin.
  void move_center(const float* center) {
    for (int row = 0; row < ndim; ++row) {
      double moved = 0;
      for (int column = 0; column < ndim; ++column) moved += matrix[row][column] * center[column];
      translation(row) = center[row] - moved;
    }
  }

  // `numbers` has `ndim` rows of `ndim` + 1 numbers.
  void read(const float* numbers) {
    for (int row = 0; row < ndim; ++row)
      for (int column = 0; column <= ndim; ++column) matrix[row][column] = *numbers++;
  }

  void write(float* numbers) const {
    for (int row = 0; row < ndim; ++row)
      for (int column = 0; column <= ndim; ++column)
        *numbers++ = static_cast<float>(matrix[row][column]);
  }
};

// The transform that does `first`, then `second`.
inline AffineTransform compose(const AffineTransform& second, const AffineTransform& first) {
  AffineTransform both(first.ndim);
  for (int row = 0; row < both.ndim; ++row) {
    for (int column = 0; column <= both.ndim; ++column) {
      double sum = column == both.ndim ? second.translation(row) : 0;
      for (int k = 0; k < both.ndim; ++k) sum += second.matrix[row][k] * first.matrix[k][column];
      both.matrix[row][column] = sum;
    }
  }
  return both;
}

// The transform that undoes `transform`, by Gauss-Jordan elimination with pivoting.
inline AffineTransform inverse(AffineTransform transform) {
  const int ndim = transform.ndim;
  AffineTransform result(ndim);
  auto& from = transform.matrix;
  auto& to = result.matrix;
  for (int i = 0; i < ndim; ++i) {
    int pivot = i;
    for (int row = i + 1; row < ndim; ++row)
      if (std::fabs(from[row][i]) > std::fabs(from[pivot][i])) pivot = row;
    if (!(std::fabs(from[pivot][i]) > 0))
      throw std::invalid_argument(
          "the matrix must have an inverse (got a singular one). Check it, or pass the mapping "
          "from "
          "output to input with inverse_map=True.");
    for (int column = 0; column < ndim; ++column) {
      std::swap(from[i][column], from[pivot][column]);
      std::swap(to[i][column], to[pivot][column]);
    }
    const double scale = from[i][i];
    for (int column = 0; column < ndim; ++column) {
      from[i][column] /= scale;
      to[i][column] /= scale;
    }
    for (int row = 0; row < ndim; ++row) {
      const double factor = from[row][i];
      if (row == i || factor == 0) continue;
      for (int column = 0; column < ndim; ++column) {
        from[row][column] -= factor * from[i][column];
        to[row][column] -= factor * to[i][column];
      }
    }
  }
  for (int row = 0; row < ndim; ++row) {
    double moved = 0;
    for (int column = 0; column < ndim; ++column)
      moved += to[row][column] * transform.translation(column);
    result.translation(row) = -moved;
  }
  return result;
}

// Degrees as radians in single precision: which of two directions is nearer is decided on these.
inline double radians(float degrees) {
  constexpr double pi = 3.14159265358979323846;
  return static_cast<float>(degrees * (pi / 180));
}

// Turns x towards y.
inline AffineTransform rotation(double radians) {
  AffineTransform transform(2);
  const double cosine = std::cos(radians), sine = std::sin(radians);
  transform.matrix[0][0] = transform.matrix[1][1] = cosine;
  transform.matrix[0][1] = -sine;
  transform.matrix[1][0] = sine;
  return transform;
}

// Turns around an axis (x, y, z) by Rodrigues' formula.
inline AffineTransform rotation(double radians, const float* axis) {
  const double length = std::hypot(axis[0], axis[1], axis[2]);
  if (!(length > 0) || !std::isfinite(length))
    throw std::invalid_argument("axis must have a length above 0 (got (" + std::to_string(axis[0]) +
                                ", " + std::to_string(axis[1]) + ", " + std::to_string(axis[2]) +
                                ")). Pass a direction (x, y, z).");
  const double x = axis[0] / length, y = axis[1] / length, z = axis[2] / length;
  const double cosine = std::cos(radians), sine = std::sin(radians), rest = 1 - cosine;
  AffineTransform transform(3);
  const double rows[3][3] = {
      {cosine + x * x * rest, x * y * rest - z * sine, x * z * rest + y * sine},
      {y * x * rest + z * sine, cosine + y * y * rest, y * z * rest - x * sine},
      {z * x * rest - y * sine, z * y * rest + x * sine, cosine + z * z * rest}};
  for (int row = 0; row < 3; ++row)
    for (int column = 0; column < 3; ++column) transform.matrix[row][column] = rows[row][column];
  return transform;
}

}  // namespace dali_core
