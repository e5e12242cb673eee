// Inner loop of fn.clahe, compiled for every instruction set (see simd.hpp), hence without guard.

// `left` and `right` are where the levels of the tiles beside each pixel begin in a row of tiles.
inline void mix_row(const uint8_t* __restrict in, uint8_t* __restrict out, int64_t count,
                    const float* __restrict upper, const float* __restrict lower,
                    const int* __restrict left, const int* __restrict right,
                    const float* __restrict weights, float weight_lower) {
  for (int64_t i = 0; i < count; ++i) {
    const int level = in[i];
    out[i] = mix_tiles(upper[left[i] + level], upper[right[i] + level], lower[left[i] + level],
                       lower[right[i] + level], weights[i], weight_lower);
  }
}
