#include "dali_core/kernels/warp/perspective.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include "dali_core/convert.hpp"
#include "dali_core/types.hpp"

namespace dali_core {
namespace {

// Positions that are further away than any image, but still fit integers.
constexpr double kFar = 1e15;
// Linear filters of int16 use positions in steps of this, as in the reference.
constexpr double kSteps = 32;

// Along one axis: the first of the pixels that count, and how much each does.
struct Taps {
  int64_t first = 0;
  int count = 1;
  float weights[4] = {1};
};

double bounded(double position) {
  return position > -kFar ? std::min(position, kFar) : -kFar;  // NaN is far away, too
}

Taps taps_at(double position, PerspectiveFilter filter, bool in_steps) {
  Taps taps;
  if (filter == PerspectiveFilter::kNearest) {
    taps.first = static_cast<int64_t>(std::nearbyint(position));
    return taps;
  }
  if (in_steps) position = std::nearbyint(position * kSteps) / kSteps;
  const double floor = std::floor(position);
  const auto x = static_cast<float>(position - floor);
  taps.first = static_cast<int64_t>(floor);
  if (filter == PerspectiveFilter::kLinear) {
    taps.count = 2;
    taps.weights[0] = 1 - x;
    taps.weights[1] = x;
    return taps;
  }
  // Keys, "Cubic convolution interpolation for digital image processing", 1981, with a = -0.75.
  constexpr float a = -0.75f;
  const auto near = [](float d) { return ((a + 2) * d - (a + 3)) * d * d + 1; };
  taps.first -= 1;
  taps.count = 4;
  taps.weights[0] = ((a * (x + 1) - 5 * a) * (x + 1) + 8 * a) * (x + 1) - 4 * a;
  taps.weights[1] = near(x);
  taps.weights[2] = near(1 - x);
  taps.weights[3] = 1 - taps.weights[0] - taps.weights[1] - taps.weights[2];
  return taps;
}

// Where the pixel for a place begins in an axis; -1 if the fill value is there.
int64_t source_place(Border border, int64_t place, int64_t extent) {
  if (place >= 0 && place < extent) return place;
  return border == Border::kConstant ? -1 : border_place(border, place, extent);
}

template <typename T>
void warp_rows(const PerspectiveTask& task) {
  const T* const input = static_cast<const T*>(task.input);
  T* out = static_cast<T*>(task.output);
  const auto& m = task.matrix.m;
  const bool in_steps = task.type == DataType::kInt16 && task.filter == PerspectiveFilter::kLinear;
  std::vector<float> sums(static_cast<size_t>(task.channels));
  for (int64_t row = 0; row < task.output_height; ++row) {
    const double y = static_cast<double>(row) + task.origin;
    for (int64_t column = 0; column < task.output_width; ++column, out += task.channels) {
      const double x = static_cast<double>(column) + task.origin;
      const double w = m[2][0] * x + m[2][1] * y + m[2][2];
      const double scale = w == 0 ? 0 : 1 / w;
      const Taps rows =
          taps_at(bounded((m[1][0] * x + m[1][1] * y + m[1][2]) * scale - task.origin), task.filter,
                  in_steps);
      const Taps columns =
          taps_at(bounded((m[0][0] * x + m[0][1] * y + m[0][2]) * scale - task.origin), task.filter,
                  in_steps);
      std::fill(sums.begin(), sums.end(), 0.0f);
      for (int i = 0; i < rows.count; ++i) {
        const int64_t from_row = source_place(task.border, rows.first + i, task.height);
        for (int k = 0; k < columns.count; ++k) {
          const int64_t from = source_place(task.border, columns.first + k, task.width);
          const float weight = rows.weights[i] * columns.weights[k];
          const T* const pixel = input + (from_row * task.width + from) * task.channels;
          const bool is_inside = from_row >= 0 && from >= 0;
          for (int64_t c = 0; c < task.channels; ++c)
            sums[c] += weight * (is_inside ? static_cast<float>(pixel[c]) : task.fill[c]);
        }
      }
      for (int64_t c = 0; c < task.channels; ++c) out[c] = convert<T>(sums[c]);
    }
  }
}

}  // namespace

PerspectiveMatrix PerspectiveMatrix::inverse() const {
  PerspectiveMatrix result;
  double determinant = 0;
  for (int i = 0; i < 3; ++i) {
    for (int k = 0; k < 3; ++k) {
      const int rows[] = {(k + 1) % 3, (k + 2) % 3}, columns[] = {(i + 1) % 3, (i + 2) % 3};
      result.m[i][k] = m[rows[0]][columns[0]] * m[rows[1]][columns[1]] -
                       m[rows[0]][columns[1]] * m[rows[1]][columns[0]];
    }
    determinant += m[0][i] * result.m[i][0];
  }
  if (!(std::abs(determinant) > 0) || !std::isfinite(determinant))
    throw std::invalid_argument("the matrix must be invertible (got determinant " +
                                std::to_string(determinant) +
                                "). Pass another, or inverse_map=True.");
  for (auto& row : result.m)
    for (double& number : row) number /= determinant;
  return result;
}

void warp_perspective(const PerspectiveTask& task) {
  visit_type(task.type, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_same_v<T, uint8_t> || std::is_same_v<T, uint16_t> ||
                  std::is_same_v<T, int16_t> || std::is_same_v<T, float>)
      warp_rows<T>(task);
    else
      throw std::invalid_argument(
          std::string("images must have type uint8, uint16, int16 or float32 (got ") +
          name_of(task.type) + "). Use fn.cast.");
  });
}

}  // namespace dali_core
