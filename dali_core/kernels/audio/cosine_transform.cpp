#include "dali_core/kernels/audio/cosine_transform.hpp"

#include <algorithm>
#include <cmath>

#include "dali_core/simd.hpp"

#define DC_SIMD_SOURCE "dali_core/kernels/audio/cosine_transform.inc.hpp"
#include "dali_core/simd_each_level.hpp"

namespace dali_core {
namespace {

constexpr double kPi = 3.14159265358979323846;

double entry(const CosineRule& rule, double k, double n, double count) {
  const double root = rule.is_orthonormal ? std::sqrt(2 / count) : 1;
  switch (rule.type) {
    case 1:
      if (n == 0) return 0.5;
      if (n == count - 1) return 0.5 * std::cos(kPi * k);
      return std::cos(kPi * n * k / (count - 1));
    case 2:
      return std::cos(kPi / count * (n + 0.5) * k) *
             (rule.is_orthonormal && k == 0 ? std::sqrt(1 / count) : root);
    case 3:
      if (n == 0) return rule.is_orthonormal ? std::sqrt(1 / count) : 0.5;
      return std::cos(kPi / count * n * (k + 0.5)) * root;
    default:
      return std::cos(kPi / count * (n + 0.5) * (k + 0.5)) * root;
  }
}

}  // namespace

std::vector<float> cosine_matrix(const CosineRule& rule, int64_t num_rows, int64_t count) {
  std::vector<float> matrix;
  matrix.reserve(static_cast<size_t>(num_rows * count));
  for (int64_t k = 0; k < num_rows; ++k) {
    double factor = 1;
    if (rule.lifter != 0)
      factor += rule.lifter / 2 * std::sin(kPi * static_cast<double>(k + 1) / rule.lifter);
    for (int64_t n = 0; n < count; ++n)
      matrix.push_back(
          static_cast<float>(factor * entry(rule, static_cast<double>(k), static_cast<double>(n),
                                            static_cast<double>(count))));
  }
  return matrix;
}

void apply_matrix(const std::vector<float>& matrix, int64_t num_rows, int64_t count, int64_t outer,
                  int64_t inner, const float* in, float* out) {
  DC_SIMD_DISPATCH(multiply_signals, matrix.data(), num_rows, count, outer, inner, in, out);
}

}  // namespace dali_core
