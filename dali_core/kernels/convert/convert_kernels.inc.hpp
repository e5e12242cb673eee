// Conversion loops, compiled for every instruction set (see simd.hpp), hence without guard. All
// levels give the same bits as convert() does.

template <typename To, typename From>
inline void convert_all(const From* in, To* __restrict out, int64_t count) {
  int64_t i = 0;
#if DC_SIMD_BYTES >= 32
  if constexpr (std::is_same_v<To, Half>) {
    for (; i + 8 <= count; i += 8)
      _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i),
                       _mm256_cvtps_ph(_mm256_loadu_ps(in + i), _MM_FROUND_TO_NEAREST_INT));
  } else if constexpr (std::is_same_v<From, Half>) {
    for (; i + 8 <= count; i += 8)
      _mm256_storeu_ps(out + i,
                       _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(in + i))));
  }
#endif
  for (; i < count; ++i) out[i] = convert<To>(in[i]);
}

template <typename To, typename From>
inline void convert_run(const void* input, void* output, int64_t count) {
  const From* const in = static_cast<const From*>(input);
  To* const out = static_cast<To*>(output);
  constexpr bool has_half = std::is_same_v<To, Half> || std::is_same_v<From, Half>;
  constexpr bool has_float = std::is_same_v<To, float> || std::is_same_v<From, float>;
  if constexpr (has_half && !has_float) {
    // Instructions convert half floats from and to floats only. Both steps are loops over a block,
    // which stays in the cache.
    constexpr int64_t kFloatsInBlock = 256;
    alignas(64) float block[kFloatsInBlock];
    for (int64_t first = 0; first < count; first += kFloatsInBlock) {
      const int64_t length = std::min(kFloatsInBlock, count - first);
      convert_all(in + first, block, length);
      convert_all(block, out + first, length);
    }
  } else {
    convert_all(in, out, count);
  }
}

inline ConvertRun find_run(DataType from, DataType to) {
  return visit_type(from, [to](auto in) {
    return visit_type(to, [](auto out) -> ConvertRun {
      // A bool is a byte of 0 or 1.
      using From = std::conditional_t<std::is_same_v<decltype(in), bool>, uint8_t, decltype(in)>;
      return convert_run<decltype(out), From>;
    });
  });
}
