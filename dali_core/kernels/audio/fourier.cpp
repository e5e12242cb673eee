#include "dali_core/kernels/audio/fourier.hpp"

#include <array>
#include <cmath>
#include <stdexcept>
#include <string>

namespace dali_core {
namespace {

constexpr double kPi = 3.14159265358979323846;

struct Rotation {
  float cosine, sine;
};

// exp(-2 pi i numerator / denominator)
Rotation rotation(int64_t numerator, int64_t denominator) {
  const double angle =
      -2 * kPi * static_cast<double>(numerator % denominator) / static_cast<double>(denominator);
  return {static_cast<float>(std::cos(angle)), static_cast<float>(std::sin(angle))};
}

// Factors of a size in the order of use; none if one of them would be larger than 13.
std::vector<int> factors_of(int64_t points) {
  std::vector<int> factors;
  for (const int factor : {4, 2, 3, 5, 7, 11, 13})
    for (; points % factor == 0; points /= factor) factors.push_back(factor);
  if (points != 1) factors.clear();
  return factors;
}

std::array<OddAngles, kMostFactor + 1> all_angles() {
  std::array<OddAngles, kMostFactor + 1> all{};
  for (int factor = 3; factor <= kMostFactor; factor += 2)
    for (int i = 0; i < factor; ++i) {
      const double angle = 2 * kPi * i / factor;
      all[static_cast<size_t>(factor)].cosine[i] = static_cast<float>(std::cos(angle));
      all[static_cast<size_t>(factor)].sine[i] = static_cast<float>(std::sin(angle));
    }
  return all;
}

int64_t position_of(int64_t frequency, int64_t points, const std::vector<int>& factors) {
  int64_t position = 0;
  for (const int factor : factors) {
    points /= factor;
    position += frequency % factor * points;
    frequency /= factor;
  }
  return position;
}

}  // namespace

const OddAngles& odd_angles(int factor) {
  static const std::array<OddAngles, kMostFactor + 1> angles = all_angles();
  return angles[static_cast<size_t>(factor)];
}

ComplexTransform::ComplexTransform(int64_t num_points)
    : points(num_points), factors(factors_of(num_points)) {
  if (factors.empty() && points > 1) {
    int64_t length = 1;
    while (length < 2 * points - 1) length *= 2;
    auto inner = std::make_unique<ComplexTransform>(length);
    std::vector<float> values(static_cast<size_t>(2 * length));
    chirp.resize(static_cast<size_t>(2 * points));
    int64_t square = 0;  // of i, modulo twice the number of points
    for (int64_t i = 0; i < points; ++i) {
      const auto [cosine, sine] = rotation(square, 2 * points);
      square = (square + 2 * i + 1) % (2 * points);
      chirp[static_cast<size_t>(2 * i)] = cosine;
      chirp[static_cast<size_t>(2 * i + 1)] = sine;
      for (const int64_t place : {i, (length - i) % length}) {
        values[static_cast<size_t>(2 * place)] = cosine;
        values[static_cast<size_t>(2 * place + 1)] = -sine;
      }
    }
    transform_one(*inner, values.data());
    // The inverse transform divides by the number of points.
    for (float& value : values) value /= static_cast<float>(length);
    filter = std::move(values);
    convolution = std::move(inner);
    return;
  }
  int64_t length = points;
  for (const int factor : factors) {
    const int64_t part = length / factor;
    for (int64_t i = 0; part > 1 && i < part; ++i)
      for (int k = 1; k < factor; ++k) {
        const auto [cosine, sine] = rotation(i * k, length);
        twiddles.push_back(cosine);
        twiddles.push_back(sine);
      }
    length = part;
  }
  for (int64_t i = 0; i < points; ++i)
    positions.push_back(static_cast<int32_t>(2 * position_of(i, points, factors)));
}

RealTransform::RealTransform(int64_t number)
    : size(number), complex(number % 2 == 0 ? number / 2 : number) {
  if (!is_packed()) return;
  for (int64_t i = 0; i <= size / 4; ++i) {
    const auto [cosine, sine] = rotation(i, size);
    twiddles.push_back(cosine);
    twiddles.push_back(sine);
  }
}

}  // namespace dali_core
