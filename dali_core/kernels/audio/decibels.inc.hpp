// Logarithms, compiled for every instruction set (see simd.hpp), hence without guard. Loops without
// branches and calls, which compilers turn into vector code.

// The natural logarithm of a normal positive number, to 2 units in the last place: the number is
// 2 ** exponent * (1 + x), 1 / sqrt(2) <= 1 + x < sqrt(2), and
// log(1 + x) = 2 artanh(s), s = x / (2 + x), is a short series in s ** 2.
inline float natural_logarithm(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  const uint32_t above = bits - 0x3f3504f3u;
  const int32_t exponent = static_cast<int32_t>(above) >> 23;
  const uint32_t reduced = (above & 0x007fffffu) + 0x3f3504f3u;
  float mantissa;
  std::memcpy(&mantissa, &reduced, sizeof mantissa);
  const float x = mantissa - 1;
  const float s = x / (2 + x);
  const float square = s * s;
  const float series =
      2 * s * square * (1.0f / 3 + square * (1.0f / 5 + square * (1.0f / 7 + square * (1.0f / 9))));
  // 2 s is x - s x, whose first term is exact.
  return static_cast<float>(exponent) * 0.693147180559945f + (x - (s * x - series));
}

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
                        float least, float multiplier) {
  const float scale = static_cast<float>(multiplier / 2.302585092994045684);
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (int64_t i = 0; i < count; ++i) {
    const float ratio = in[i] * factor;
    const float bounded = ratio > least ? ratio : least;
    const float result = natural_logarithm(bounded) * scale;
    out[i] = bounded < kInfinity ? result : kInfinity * multiplier;
  }
}
