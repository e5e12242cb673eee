// Weighted sums of bins, compiled for every instruction set (see simd.hpp), hence without guard.
// The order of a sum is that of the bins, however spectra are laid out.

// Spectra whose bins are `step` apart, for as many spectra as a block has.
inline void filter_columns(const std::vector<MelFilter>& filters, const float* in, int64_t in_step,
                           int64_t count, float* out, int64_t out_step) {
  for (const MelFilter& filter : filters) {
    float* const __restrict sums = out;
    for (int64_t i = 0; i < count; ++i) sums[i] = 0;
    const float* bin = in + filter.first * in_step;
    for (const float weight : filter.weights) {
      for (int64_t i = 0; i < count; ++i) sums[i] += weight * bin[i];
      bin += in_step;
    }
    out += out_step;
  }
}

inline void filter_rows(const std::vector<MelFilter>& filters, const float* in, float* out) {
  for (const MelFilter& filter : filters) {
    const float* const bins = in + filter.first;
    float sum = 0;
    for (size_t i = 0; i < filter.weights.size(); ++i) sum += filter.weights[i] * bins[i];
    *out++ = sum;
  }
}

inline void filter_spectra(const std::vector<MelFilter>& filters, const MelSpectra& spectra,
                           const float* in, float* out) {
  const auto num_filters = static_cast<int64_t>(filters.size());
  // Sums of as many spectra stay in registers or the nearest cache.
  constexpr int64_t kBlock = 512;
  for (int64_t outer = 0; outer < spectra.outer; ++outer) {
    if (spectra.inner == 1) {
      filter_rows(filters, in, out);
    } else {
      for (int64_t first = 0; first < spectra.inner; first += kBlock)
        filter_columns(filters, in + first, spectra.inner, std::min(kBlock, spectra.inner - first),
                       out + first, spectra.inner);
    }
    in += spectra.num_bins * spectra.inner;
    out += num_filters * spectra.inner;
  }
}
