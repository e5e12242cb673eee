// Triangular filters whose centres are equally far apart on a mel scale.
#pragma once

#include <cstdint>
#include <vector>

namespace dali_core {

enum class MelScale { kSlaney, kHtk };

struct MelRule {
  int64_t num_filters;
  double sample_rate, low, high;  // in Hz; `high` 0 is half the sampling rate
  MelScale scale;
  bool is_normalized;  // the integral of each filter is 1

  bool operator==(const MelRule& other) const {
    return num_filters == other.num_filters && sample_rate == other.sample_rate &&
           low == other.low && high == other.high && scale == other.scale &&
           is_normalized == other.is_normalized;
  }
};

// The weights of neighbouring bins.
struct MelFilter {
  int64_t first;
  std::vector<float> weights;
};

// For spectra with `num_bins` bins, from frequency 0 to half the sampling rate.
std::vector<MelFilter> mel_filters(const MelRule& rule, int64_t num_bins);

// Spectra in a tensor: `outer` times `inner` of them, whose bins are `inner` apart.
struct MelSpectra {
  int64_t outer, num_bins, inner;
};

void apply_mel_filters(const std::vector<MelFilter>& filters, const MelSpectra& spectra,
                       const float* in, float* out);

}  // namespace dali_core
