#include "dali_core/kernels/audio/resampling.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "dali_core/simd.hpp"
#include "dali_core/sizes.hpp"

#define DC_SIMD_SOURCE "dali_core/kernels/audio/resampling.inc.hpp"
#include "dali_core/simd_each_level.hpp"

namespace dali_core {
namespace {

constexpr double kPi = 3.14159265358979323846;
constexpr int64_t kPoints = 32;            // of the table, for each sample
constexpr int64_t kMostWeights = 1 << 17;  // of all phases together

// Output sample `i + phases` is `step` input samples after `i`, with the same weights.
struct Phases {
  int64_t count = 0, step = 0;
};

// Without phases if there are too many.
Phases phases_of(RateRatio ratio) {
  double in = ratio.in, out = ratio.out;
  for (int i = 0; i < 32 && (in != std::floor(in) || out != std::floor(out)); ++i) {
    in *= 2;
    out *= 2;
  }
  constexpr double kMost = 9007199254740992.0;  // 2 ** 53
  if (in != std::floor(in) || out != std::floor(out) || in > kMost || out > kMost) return {};
  const auto divisor = std::gcd(static_cast<int64_t>(in), static_cast<int64_t>(out));
  return {static_cast<int64_t>(out) / divisor, static_cast<int64_t>(in) / divisor};
}

// Writes the weights for an output sample at `place`; gives the first input sample.
int64_t write_weights(const SincFilter& filter, double place, float* weights) {
  const auto first = static_cast<int64_t>(std::ceil(place)) - filter.lobes();
  for (int64_t i = 0; i < filter.num_taps(); ++i)
    weights[i] = filter.at(static_cast<double>(first + i) - place);
  return first;
}

}  // namespace

int64_t RateRatio::output_length(int64_t length) const {
  return checked_extent(std::ceil(static_cast<double>(length) * out / in), "the output's length");
}

// The number of lobes is the polynomial through the three points.
SincFilter::SincFilter(double quality)
    : lobes_(static_cast<int64_t>(std::lround(3 - 0.09 * quality + 0.007 * quality * quality))) {
  const double extent = static_cast<double>(lobes_) + 0.5 / kPoints;
  for (int64_t i = 0; i <= lobes_ * kPoints; ++i) {
    const double x = static_cast<double>(i) / kPoints;
    const double sinc = i == 0 ? 1 : std::sin(kPi * x) / (kPi * x);
    table_.push_back(static_cast<float>(sinc * 0.5 * (1 + std::cos(kPi * x / extent))));
  }
  table_.push_back(0);
}

float SincFilter::at(double x) const {
  const double place = std::fabs(x) * kPoints;
  if (!(place < static_cast<double>(table_.size() - 1))) return 0;
  const auto index = static_cast<size_t>(place);
  const double part = place - static_cast<double>(index);
  return static_cast<float>(table_[index] + part * (table_[index + 1] - table_[index]));
}

void resample(const SincFilter& filter, RateRatio ratio, const float* signal, int64_t out_length,
              float* out, int64_t step) {
  const double scale = ratio.in / ratio.out;
  const int64_t num_taps = filter.num_taps();
  const Phases phases = phases_of(ratio);
  if (phases.count == 0 || phases.count > out_length || phases.count * num_taps > kMostWeights) {
    std::vector<float> weights(static_cast<size_t>(num_taps));
    for (int64_t i = 0; i < out_length; ++i) {
      const int64_t first = write_weights(filter, static_cast<double>(i) * scale, weights.data());
      out[i * step] = DC_SIMD_DISPATCH(weighted_sum, weights.data(), signal + first, num_taps);
    }
    return;
  }
  std::vector<float> weights(static_cast<size_t>(phases.count * num_taps));
  std::vector<int64_t> firsts;
  for (int64_t i = 0; i < phases.count; ++i)
    firsts.push_back(write_weights(
        filter, static_cast<double>(i * phases.step) / static_cast<double>(phases.count),
        weights.data() + i * num_taps));
  DC_SIMD_DISPATCH(sum_phases, weights.data(), firsts.data(), phases.count, phases.step, num_taps,
                   signal, out_length, out, step);
}

}  // namespace dali_core
