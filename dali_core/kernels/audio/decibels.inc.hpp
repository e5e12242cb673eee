// Logarithms, compiled for every instruction set (see simd.hpp), hence without guard. Loops without
// branches and calls, which compilers turn into vector code.

inline float largest_of(const float* in, int64_t count) {
  // Sixteen candidates, so that the loop has no chain of comparisons.
  float largest[16] = {};
  int64_t i = 0;
  for (; i + 16 <= count; i += 16)
    for (int k = 0; k < 16; ++k) largest[k] = in[i + k] > largest[k] ? in[i + k] : largest[k];
  for (; i < count; ++i) largest[0] = in[i] > largest[0] ? in[i] : largest[0];
  for (int k = 1; k < 16; ++k) largest[0] = std::max(largest[0], largest[k]);
  return largest[0];
}

inline void decibels_of(const float* in, float* __restrict out, int64_t count, float factor,
                        float least, float multiplier, float scale) {
  for (int64_t i = 0; i < count; ++i)
    out[i] = decibels_of_normal(in[i] * factor, least, multiplier, scale);
}
