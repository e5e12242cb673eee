// Inner loops of resampling uint8 in fixed point: integers, so any way to compute them gives the
// same bits. No include guard: compiled once for every instruction set.

using dali_core::multiply_round;

#if DC_SIMD_BYTES == 64
using Int16Vector = __m512i;
inline Int16Vector shifted_bytes(const uint8_t* from) {
  return _mm512_slli_epi16(
      _mm512_cvtepu8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from))), 7);
}
inline Int16Vector multiply_round(Int16Vector a, Int16Vector b) {
  return _mm512_mulhrs_epi16(a, b);
}
inline Int16Vector add(Int16Vector a, Int16Vector b) { return _mm512_add_epi16(a, b); }
inline Int16Vector broadcast(int16_t value) { return _mm512_set1_epi16(value); }
inline Int16Vector load(const int16_t* from) { return _mm512_loadu_si512(from); }
inline void store(int16_t* to, Int16Vector value) { _mm512_storeu_si512(to, value); }
#elif DC_SIMD_BYTES == 32
using Int16Vector = __m256i;
inline Int16Vector shifted_bytes(const uint8_t* from) {
  return _mm256_slli_epi16(
      _mm256_cvtepu8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from))), 7);
}
inline Int16Vector multiply_round(Int16Vector a, Int16Vector b) {
  return _mm256_mulhrs_epi16(a, b);
}
inline Int16Vector add(Int16Vector a, Int16Vector b) { return _mm256_add_epi16(a, b); }
inline Int16Vector broadcast(int16_t value) { return _mm256_set1_epi16(value); }
inline Int16Vector load(const int16_t* from) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
}
inline void store(int16_t* to, Int16Vector value) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), value);
}
#elif DC_SIMD_X86
using Int16Vector = __m128i;
inline Int16Vector shifted_bytes(const uint8_t* from) {
  const __m128i bytes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(from));
  return _mm_srli_epi16(_mm_unpacklo_epi8(_mm_setzero_si128(), bytes), 1);
}
inline Int16Vector multiply_round(Int16Vector a, Int16Vector b) {
  const __m128i low = _mm_mullo_epi16(a, b);
  const __m128i bit14 = _mm_and_si128(_mm_srli_epi16(low, 14), _mm_set1_epi16(1));
  const __m128i carry = _mm_add_epi16(_mm_srli_epi16(low, 15), bit14);
  return _mm_add_epi16(_mm_slli_epi16(_mm_mulhi_epi16(a, b), 1), carry);
}
inline Int16Vector add(Int16Vector a, Int16Vector b) { return _mm_add_epi16(a, b); }
inline Int16Vector broadcast(int16_t value) { return _mm_set1_epi16(value); }
inline Int16Vector load(const int16_t* from) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
}
inline void store(int16_t* to, Int16Vector value) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), value);
}
#endif

template <int kTaps, bool kAccumulate>
void blend_fixed_some(const uint8_t* const* rows, const int16_t* weights, int64_t count,
                      int16_t* __restrict out) {
  int64_t i = 0;
#if DC_SIMD_X86
  // Compilers do not find the rounding multiply when one factor is constant.
  constexpr int kStep = DC_SIMD_BYTES / 2;
  Int16Vector weight[kTaps];
  for (int k = 0; k < kTaps; ++k) weight[k] = broadcast(weights[k]);
  for (; i + kStep <= count; i += kStep) {
    Int16Vector sum = multiply_round(shifted_bytes(rows[0] + i), weight[0]);
    if (kAccumulate) sum = add(load(out + i), sum);
    for (int k = 1; k < kTaps; ++k)
      sum = add(sum, multiply_round(shifted_bytes(rows[k] + i), weight[k]));
    store(out + i, sum);
  }
#endif
  for (; i < count; ++i) {
    int16_t sum = kAccumulate ? out[i] : int16_t{0};
    for (int k = 0; k < kTaps; ++k)
      sum = static_cast<int16_t>(sum +
                                 multiply_round(static_cast<int16_t>(rows[k][i] << 7), weights[k]));
    out[i] = sum;
  }
}

template <bool kAccumulate>
void blend_fixed_up_to_four(const uint8_t* const* rows, const int16_t* weights, int taps,
                            int64_t count, int16_t* out) {
  if (taps == 1) return blend_fixed_some<1, kAccumulate>(rows, weights, count, out);
  if (taps == 2) return blend_fixed_some<2, kAccumulate>(rows, weights, count, out);
  if (taps == 3) return blend_fixed_some<3, kAccumulate>(rows, weights, count, out);
  blend_fixed_some<4, kAccumulate>(rows, weights, count, out);
}

inline void blend_fixed(const void* const* untyped_rows, const int16_t* weights, int taps,
                        int64_t count, int16_t* out) {
  const uint8_t* const* rows = reinterpret_cast<const uint8_t* const*>(untyped_rows);
  blend_fixed_up_to_four<false>(rows, weights, taps, count, out);
  for (int k = 4; k < taps; k += 4)
    blend_fixed_up_to_four<true>(rows + k, weights + k, taps - k, count, out);
}

typedef int32_t Int32x4 __attribute__((vector_size(16)));
typedef int16_t Int16x4 __attribute__((vector_size(8)));

// Any number of channels, four at a time.
inline void gather_fixed_any(const int16_t* row, const int32_t* starts, const int16_t* weights,
                             int taps, int channels, int64_t count, uint8_t* out) {
  const int pairs = (taps + 1) / 2;
  const int lanes = channels < 4 ? channels : 4;
  for (int64_t x = 0; x < count; ++x, out += channels) {
    const int16_t* weight = weights + (x / 2) * pairs * 16 + (x % 2) * 8;
    for (int done = 0; done < channels; done += 4) {
      const int c = done + 4 <= channels ? done : channels - lanes;
      const int16_t* from = row + starts[x] + c;
      Int32x4 sum = Int32x4{} + (1 << (kFixedShift - 1));
      for (int k = 0; k < taps; ++k, from += channels) {
        Int16x4 values;
        __builtin_memcpy(&values, from, sizeof values);
        sum += __builtin_convertvector(values, Int32x4) *
               static_cast<int32_t>(weight[(k / 2) * 16 + k % 2]);
      }
      sum >>= kFixedShift;
      for (int lane = 0; lane < lanes; ++lane)
        out[c + lane] = static_cast<uint8_t>(sum[lane] < 0 ? 0 : sum[lane] > 255 ? 255 : sum[lane]);
    }
  }
}

#if DC_SIMD_BYTES >= 32

// Two outputs in the halves of a register, two taps in the halves of a 32-bit lane.
template <int kChannels, int kPairs>
inline __m256i gather_two(const int16_t* row, const int32_t* starts, const int16_t* weights,
                          int dynamic_pairs) {
  // r0 g0 b0 r1 g1 b1 .. -> r0 r1 g0 g1 b0 b1 ..
  const __m256i order =
      kChannels == 3 ? _mm256_setr_epi8(0, 1, 6, 7, 2, 3, 8, 9, 4, 5, 10, 11, -1, -1, -1, -1, 0, 1,
                                        6, 7, 2, 3, 8, 9, 4, 5, 10, 11, -1, -1, -1, -1)
                     : _mm256_setr_epi8(0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15, 0, 1,
                                        8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15);
  const int pairs = kPairs ? kPairs : dynamic_pairs;
  const int16_t* first = row + starts[0];
  const int16_t* second = row + starts[1];
  __m256i sum = _mm256_set1_epi32(1 << (kFixedShift - 1));
  for (int k = 0; k < pairs; ++k) {
    const __m128i low =
        _mm_loadu_si128(reinterpret_cast<const __m128i*>(first + k * 2 * kChannels));
    const __m128i high =
        _mm_loadu_si128(reinterpret_cast<const __m128i*>(second + k * 2 * kChannels));
    const __m256i values =
        _mm256_shuffle_epi8(_mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1), order);
    const __m256i weight = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(weights + k * 16));
    sum = _mm256_add_epi32(sum, _mm256_madd_epi16(values, weight));
  }
  return _mm256_srai_epi32(sum, kFixedShift);
}

template <int kChannels, int kPairs>
void gather_fixed_pixels(const int16_t* row, const int32_t* starts, const int16_t* weights,
                         int dynamic_pairs, int64_t count, uint8_t* out) {
  const int pairs = kPairs ? kPairs : dynamic_pairs;
  const int64_t step = pairs * 16;
  const __m256i to_order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
  const __m256i drop_fourth =
      _mm256_setr_epi8(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1, 0, 1, 2, 4, 5, 6, 8,
                       9, 10, 12, 13, 14, -1, -1, -1, -1);
  for (int64_t x = 0; x < count; x += kResampleFixedBlock, starts += kResampleFixedBlock) {
    __m256i sums[4];
    for (int i = 0; i < 4; ++i, weights += step)
      sums[i] = gather_two<kChannels, kPairs>(row, starts + 2 * i, weights, pairs);
    const __m256i bytes = _mm256_packus_epi16(_mm256_packs_epi32(sums[0], sums[1]),
                                              _mm256_packs_epi32(sums[2], sums[3]));
    __m256i pixels = _mm256_permutevar8x32_epi32(bytes, to_order);
    if (kChannels == 3) pixels = _mm256_shuffle_epi8(pixels, drop_fourth);
    const __m128i low = _mm256_castsi256_si128(pixels);
    const __m128i high = _mm256_extracti128_si256(pixels, 1);
    uint8_t* to = out + x * kChannels;
    // With three channels the stores reach four bytes into the next block.
    if ((count - x) * kChannels >= 4 * kChannels + 16) {
      _mm_storeu_si128(reinterpret_cast<__m128i*>(to), low);
      _mm_storeu_si128(reinterpret_cast<__m128i*>(to + 4 * kChannels), high);
    } else {
      uint8_t last[32];
      _mm_storeu_si128(reinterpret_cast<__m128i*>(last), low);
      _mm_storeu_si128(reinterpret_cast<__m128i*>(last + 4 * kChannels), high);
      __builtin_memcpy(to, last, static_cast<size_t>((count - x) * kChannels));
    }
  }
}

template <int kChannels>
void gather_fixed_by_taps(const int16_t* row, const int32_t* starts, const int16_t* weights,
                          int taps, int64_t count, uint8_t* out) {
  const int pairs = (taps + 1) / 2;
  switch (pairs) {
    case 1:
      return gather_fixed_pixels<kChannels, 1>(row, starts, weights, pairs, count, out);
    case 2:
      return gather_fixed_pixels<kChannels, 2>(row, starts, weights, pairs, count, out);
    case 3:
      return gather_fixed_pixels<kChannels, 3>(row, starts, weights, pairs, count, out);
    default:
      return gather_fixed_pixels<kChannels, 0>(row, starts, weights, pairs, count, out);
  }
}

inline void gather_fixed(const int16_t* row, const int32_t* starts, const int16_t* weights,
                         int taps, int channels, int64_t count, uint8_t* out) {
  if (channels == 3) return gather_fixed_by_taps<3>(row, starts, weights, taps, count, out);
  if (channels == 4) return gather_fixed_by_taps<4>(row, starts, weights, taps, count, out);
  gather_fixed_any(row, starts, weights, taps, channels, count, out);
}

#elif DC_SIMD_X86

template <int kChannels>
void gather_fixed_pixels(const int16_t* row, const int32_t* starts, const int16_t* weights,
                         int taps, int64_t count, uint8_t* out) {
  const int pairs = (taps + 1) / 2;
  for (int64_t x = 0; x < count; ++x, out += kChannels) {
    const int16_t* from = row + starts[x];
    const int16_t* weight = weights + (x / 2) * pairs * 16 + (x % 2) * 8;
    __m128i sum = _mm_set1_epi32(1 << (kFixedShift - 1));
    for (int k = 0; k < pairs; ++k, from += 2 * kChannels, weight += 16) {
      const __m128i first = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(from));
      const __m128i second = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(from + kChannels));
      sum = _mm_add_epi32(sum, _mm_madd_epi16(_mm_unpacklo_epi16(first, second), load(weight)));
    }
    sum = _mm_srai_epi32(sum, kFixedShift);
    const __m128i words = _mm_packs_epi32(sum, sum);
    const int32_t pixel = _mm_cvtsi128_si32(_mm_packus_epi16(words, words));
    __builtin_memcpy(out, &pixel, kChannels);
  }
}

inline void gather_fixed(const int16_t* row, const int32_t* starts, const int16_t* weights,
                         int taps, int channels, int64_t count, uint8_t* out) {
  if (channels == 3) return gather_fixed_pixels<3>(row, starts, weights, taps, count, out);
  if (channels == 4) return gather_fixed_pixels<4>(row, starts, weights, taps, count, out);
  gather_fixed_any(row, starts, weights, taps, channels, count, out);
}

#else

inline void gather_fixed(const int16_t* row, const int32_t* starts, const int16_t* weights,
                         int taps, int channels, int64_t count, uint8_t* out) {
  gather_fixed_any(row, starts, weights, taps, channels, count, out);
}

#endif
