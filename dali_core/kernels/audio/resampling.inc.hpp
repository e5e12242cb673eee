// Weighted sums of neighbouring samples, compiled for every instruction set (see simd.hpp), hence
// without guard. Sixteen partial sums, added in the same order, give the same bits with all.

inline float weighted_sum(const float* weights, const float* signal, int64_t count) {
  float sums[16] = {};
  for (int64_t i = 0; i < count; i += 16)
    for (int k = 0; k < 16; ++k) sums[k] += weights[i + k] * signal[i + k];
  for (int half = 8; half > 0; half /= 2)
    for (int k = 0; k < half; ++k) sums[k] += sums[k + half];
  return sums[0];
}

inline void sum_phases(const float* weights, const int64_t* firsts, int64_t num_phases,
                       int64_t phase_step, int64_t num_taps, const float* signal,
                       int64_t out_length, float* out, int64_t step) {
  for (int64_t start = 0; start < out_length; start += num_phases) {
    const int64_t count = std::min(num_phases, out_length - start);
    for (int64_t i = 0; i < count; ++i)
      out[(start + i) * step] = weighted_sum(weights + i * num_taps, signal + firsts[i], num_taps);
    signal += phase_step;
  }
}
