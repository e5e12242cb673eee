#include "dali_core/kernels/audio/mel_filters.hpp"

#include <algorithm>
#include <cmath>

#include "dali_core/simd.hpp"

#define DC_SIMD_SOURCE "dali_core/kernels/audio/mel_filters.inc.hpp"
#include "dali_core/simd_each_level.hpp"

namespace dali_core {
namespace {

// M. Slaney, "Auditory Toolbox", 1998: linear to 1 kHz, where a mel is 200 / 3 Hz, and logarithmic
// above, where 27 mel are a factor of 6.4.
constexpr double kLinearStep = 200.0 / 3, kLinearEnd = 1000;
const double kLogarithmicStep = std::log(6.4) / 27;

double to_mel(double frequency, MelScale scale) {
  // D. O'Shaughnessy, "Speech Communication", 1987.
  if (scale == MelScale::kHtk) return 2595 * std::log10(1 + frequency / 700);
  if (frequency < kLinearEnd) return frequency / kLinearStep;
  return kLinearEnd / kLinearStep + std::log(frequency / kLinearEnd) / kLogarithmicStep;
}

double to_frequency(double mel, MelScale scale) {
  if (scale == MelScale::kHtk) return 700 * (std::pow(10, mel / 2595) - 1);
  const double end = kLinearEnd / kLinearStep;
  if (mel < end) return mel * kLinearStep;
  return kLinearEnd * std::exp((mel - end) * kLogarithmicStep);
}

}  // namespace

std::vector<MelFilter> mel_filters(const MelRule& rule, int64_t num_bins) {
  const double high = rule.high > 0 ? rule.high : rule.sample_rate / 2;
  const double first_mel = to_mel(rule.low, rule.scale);
  const double step =
      (to_mel(high, rule.scale) - first_mel) / static_cast<double>(rule.num_filters + 1);
  const double bin_width =
      num_bins > 1 ? rule.sample_rate / 2 / static_cast<double>(num_bins - 1) : 0;
  std::vector<MelFilter> filters(static_cast<size_t>(rule.num_filters));
  for (int64_t i = 0; i < rule.num_filters && num_bins > 1; ++i) {
    const auto edge = [&](int64_t number) {
      return to_frequency(first_mel + static_cast<double>(number) * step, rule.scale);
    };
    const double left = edge(i), centre = edge(i + 1), right = edge(i + 2);
    const double height = rule.is_normalized ? 2 / (right - left) : 1;
    MelFilter& filter = filters[static_cast<size_t>(i)];
    const double last_bin = static_cast<double>(num_bins - 1);
    const auto bin_from = [&](double frequency) {
      return static_cast<int64_t>(std::min(std::ceil(frequency / bin_width), last_bin + 1));
    };
    filter.first = bin_from(left);
    const int64_t end = bin_from(right);
    for (int64_t bin = filter.first; bin < end; ++bin) {
      const double frequency = static_cast<double>(bin) * bin_width;
      const double rise = (frequency - left) / (centre - left);
      const double fall = (right - frequency) / (right - centre);
      filter.weights.push_back(static_cast<float>(height * std::max(0.0, std::min(rise, fall))));
    }
  }
  return filters;
}

void apply_mel_filters(const std::vector<MelFilter>& filters, const MelSpectra& spectra,
                       const float* in, float* out) {
  DC_SIMD_DISPATCH(filter_spectra, filters, spectra, in, out);
}

}  // namespace dali_core
