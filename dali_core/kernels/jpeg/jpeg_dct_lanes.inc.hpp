// Blocks of JPEG coefficients in vectors: to be included inside the namespace of an instruction set
// (see simd.hpp), hence without guard. A lane of 128 bits has a block: the same row of as many
// blocks as a register has lanes. DC_V is undefined by who includes this.

#if DC_SIMD_BYTES >= 32
using Lanes = __m256i;
constexpr int kLanes = 2;
#define DC_V(name) _mm256_##name
#else
using Lanes = __m128i;
constexpr int kLanes = 1;
#define DC_V(name) _mm_##name
#endif

inline __m128i load_row(const void* at) { return _mm_loadu_si128(static_cast<const __m128i*>(at)); }

#if DC_SIMD_BYTES >= 32
inline Lanes load_rows(const int16_t* blocks, int row) {
  return _mm256_inserti128_si256(_mm256_castsi128_si256(load_row(blocks + 8 * row)),
                                 load_row(blocks + 64 + 8 * row), 1);
}
inline Lanes in_each_lane(__m128i row) { return _mm256_broadcastsi128_si256(row); }
inline Lanes zero_lanes() { return _mm256_setzero_si256(); }
inline Lanes exclusive_or(Lanes a, Lanes b) { return _mm256_xor_si256(a, b); }
inline Lanes either(Lanes a, Lanes b) { return _mm256_or_si256(a, b); }
inline Lanes both(Lanes a, Lanes b) { return _mm256_and_si256(a, b); }
#else
inline Lanes load_rows(const int16_t* blocks, int row) { return load_row(blocks + 8 * row); }
inline Lanes in_each_lane(__m128i row) { return row; }
inline Lanes zero_lanes() { return _mm_setzero_si128(); }
inline Lanes exclusive_or(Lanes a, Lanes b) { return _mm_xor_si128(a, b); }
inline Lanes either(Lanes a, Lanes b) { return _mm_or_si128(a, b); }
inline Lanes both(Lanes a, Lanes b) { return _mm_and_si128(a, b); }
#endif

// Two constants for pairs (a, b) of neighbours.
inline Lanes pair(int a, int b) {
  return DC_V(set1_epi32)(
      static_cast<int>(static_cast<uint32_t>(b) << 16 | (static_cast<uint32_t>(a) & 0xFFFF)));
}

// 16 bits as 32, times 2**kBits.
template <int kBits = kConstantBits>
inline Lanes scaled_low(Lanes v) {
  return DC_V(srai_epi32)(DC_V(unpacklo_epi16)(zero_lanes(), v), 16 - kBits);
}
template <int kBits = kConstantBits>
inline Lanes scaled_high(Lanes v) {
  return DC_V(srai_epi32)(DC_V(unpackhi_epi16)(zero_lanes(), v), 16 - kBits);
}
