// Converts runs of elements. To be included inside the namespace of an instruction set (see
// simd.hpp), hence without guard. All levels give the same bits as convert() does.

template <typename To, typename From>
inline void convert_run(const From* in, To* out, int64_t count) {
  int64_t i = 0;
#if DC_SIMD_BYTES >= 32
  constexpr bool from_half = std::is_same_v<From, Half>;
  constexpr bool to_half = std::is_same_v<To, Half>;
  if constexpr (std::is_same_v<From, float> && to_half) {
    for (; i + 8 <= count; i += 8)
      _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i),
                       _mm256_cvtps_ph(_mm256_loadu_ps(in + i), _MM_FROUND_TO_NEAREST_INT));
  } else if constexpr (from_half && std::is_same_v<To, float>) {
    for (; i + 8 <= count; i += 8)
      _mm256_storeu_ps(out + i,
                       _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(in + i))));
  } else if constexpr (from_half != to_half) {
    alignas(64) float block[256];
    for (; i < count; i += 256) {
      const int64_t length = count - i < 256 ? count - i : 256;
      convert_run(in + i, block, length);
      convert_run(block, out + i, length);
    }
  }
#endif
  for (; i < count; ++i) out[i] = convert<To>(in[i]);
}
