// Rows of JPEG components in vectors: to be included inside the namespace of an instruction set
// (see simd.hpp), hence without guard.
#include "dali_core/interleaved_pixels.inc.hpp"

inline void widen(const uint8_t* __restrict in, int64_t count, uint8_t* __restrict out) {
  for (int64_t i = 0; i < count; ++i) {
    const int three = 3 * in[i];
    const uint16_t even = static_cast<uint16_t>((three + in[i - 1] + 1) >> 2);
    const uint16_t odd = static_cast<uint16_t>((three + in[i + 1] + 2) >> 2);
    store_pair(even, odd, out + 2 * i);
  }
}

inline void widen_both(const uint8_t* __restrict near_row, const uint8_t* __restrict far_row,
                       int64_t count, uint8_t* __restrict out) {
  for (int64_t i = 0; i < count; ++i) {
    const uint16_t before = static_cast<uint16_t>(3 * near_row[i - 1] + far_row[i - 1]);
    const uint16_t here = static_cast<uint16_t>(3 * (3 * near_row[i] + far_row[i]));
    const uint16_t after = static_cast<uint16_t>(3 * near_row[i + 1] + far_row[i + 1]);
    const uint16_t even = static_cast<uint16_t>(static_cast<uint16_t>(here + before + 8) >> 4);
    const uint16_t odd = static_cast<uint16_t>(static_cast<uint16_t>(here + after + 7) >> 4);
    store_pair(even, odd, out + 2 * i);
  }
}

inline void blend(const uint8_t* __restrict near_row, const uint8_t* __restrict far_row,
                  int64_t count, int bias, uint8_t* __restrict out) {
  const uint16_t added = static_cast<uint16_t>(bias);
  for (int64_t i = 0; i < count; ++i)
    out[i] = static_cast<uint8_t>(static_cast<uint16_t>(3 * near_row[i] + far_row[i] + added) >> 2);
}

inline void repeat_twice(const uint8_t* __restrict in, int64_t count, uint8_t* __restrict out) {
  for (int64_t i = 0; i < count; ++i) store_pair(in[i], in[i], out + 2 * i);
}

#if DC_SIMD_BYTES == 16 && defined(__SSE2__)
inline __m128i product(__m128i twice, int factor) {
  const __m128i high = _mm_mulhi_epi16(twice, _mm_set1_epi16(static_cast<int16_t>(factor)));
  return _mm_srai_epi16(_mm_add_epi16(high, _mm_set1_epi16(1)), 1);
}

// Eight pixels in two registers: red, green, blue and a zero.
inline void colours_of_8(__m128i y, __m128i cb, __m128i cr, bool reverse, __m128i* pixels) {
  const __m128i middle = _mm_set1_epi16(128), round = _mm_set1_epi32(1 << 15);
  const __m128i factors = _mm_set1_epi32(static_cast<int>(
      uint32_t{kRedOfGreen} << 16 | (static_cast<uint32_t>(kBlueOfGreen) & 0xFFFF)));
  cb = _mm_sub_epi16(cb, middle);
  cr = _mm_sub_epi16(cr, middle);
  const __m128i cb2 = _mm_add_epi16(cb, cb), cr2 = _mm_add_epi16(cr, cr);
  const __m128i red = _mm_add_epi16(_mm_add_epi16(y, cr), product(cr2, kRedBeyond1));
  const __m128i blue = _mm_add_epi16(_mm_add_epi16(y, cb2), product(cb2, kBlueBeyond2));
  const __m128i low = _mm_madd_epi16(_mm_unpacklo_epi16(cb, cr), factors);
  const __m128i high = _mm_madd_epi16(_mm_unpackhi_epi16(cb, cr), factors);
  const __m128i both = _mm_packs_epi32(_mm_srai_epi32(_mm_add_epi32(low, round), 16),
                                       _mm_srai_epi32(_mm_add_epi32(high, round), 16));
  const __m128i green = _mm_add_epi16(_mm_sub_epi16(y, cr), both);
  const __m128i first = reverse ? blue : red, third = reverse ? red : blue;
  const __m128i zero = _mm_setzero_si128();
  const __m128i front =
      _mm_unpacklo_epi8(_mm_packus_epi16(first, zero), _mm_packus_epi16(green, zero));
  const __m128i back = _mm_unpacklo_epi8(_mm_packus_epi16(third, zero), zero);
  pixels[0] = _mm_unpacklo_epi16(front, back);
  pixels[1] = _mm_unpackhi_epi16(front, back);
}
#endif

#if DC_SIMD_BYTES >= 32
inline __m256i wide_bytes(const uint8_t* in) {
  return _mm256_cvtepu8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(in)));
}

// (value * factor + 2**15) >> 16, from twice the value and a factor of 16 bits.
inline __m256i product(__m256i twice, int factor) {
  const __m256i high = _mm256_mulhi_epi16(twice, _mm256_set1_epi16(static_cast<int16_t>(factor)));
  return _mm256_srai_epi16(_mm256_add_epi16(high, _mm256_set1_epi16(1)), 1);
}

inline __m128i narrow_bytes(__m256i v) {
  return _mm_packus_epi16(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
}
#endif

// Blue comes first if `kReverse`.
template <bool kReverse>
inline void ycc_to_rgb(const uint8_t* const* planes, int64_t count, uint8_t* rgb) {
  int64_t i = 0;
#if DC_SIMD_BYTES >= 32
  const auto part = [](int number) {
    return Gather48([=](int i) { return (16 * number + i) % 3 * 16 + (16 * number + i) / 3; });
  };
  const Gather48 first = part(0), second = part(1), third = part(2);
  const __m256i middle = _mm256_set1_epi16(128), round = _mm256_set1_epi32(1 << 15);
  const __m256i factors = _mm256_set1_epi32(static_cast<int>(
      uint32_t{kRedOfGreen} << 16 | (static_cast<uint32_t>(kBlueOfGreen) & 0xFFFF)));
  for (; i + 16 <= count; i += 16) {
    const __m256i y = wide_bytes(planes[0] + i);
    const __m256i cb = _mm256_sub_epi16(wide_bytes(planes[1] + i), middle);
    const __m256i cr = _mm256_sub_epi16(wide_bytes(planes[2] + i), middle);
    const __m256i cb2 = _mm256_add_epi16(cb, cb), cr2 = _mm256_add_epi16(cr, cr);
    const __m256i red = _mm256_add_epi16(_mm256_add_epi16(y, cr), product(cr2, kRedBeyond1));
    const __m256i blue = _mm256_add_epi16(_mm256_add_epi16(y, cb2), product(cb2, kBlueBeyond2));
    const __m256i low = _mm256_madd_epi16(_mm256_unpacklo_epi16(cb, cr), factors);
    const __m256i high = _mm256_madd_epi16(_mm256_unpackhi_epi16(cb, cr), factors);
    const __m256i both = _mm256_packs_epi32(_mm256_srai_epi32(_mm256_add_epi32(low, round), 16),
                                            _mm256_srai_epi32(_mm256_add_epi32(high, round), 16));
    const __m256i green = _mm256_add_epi16(_mm256_sub_epi16(y, cr), both);
    const __m128i r = narrow_bytes(kReverse ? blue : red), g = narrow_bytes(green),
                  b = narrow_bytes(kReverse ? red : blue);
    auto* target = reinterpret_cast<__m128i*>(rgb + 3 * i);
    _mm_storeu_si128(target, first(r, g, b));
    _mm_storeu_si128(target + 1, second(r, g, b));
    _mm_storeu_si128(target + 2, third(r, g, b));
  }
#endif
#if DC_SIMD_BYTES == 16 && defined(__SSE2__)
  const __m128i zero = _mm_setzero_si128();
  const auto wide = [zero](const uint8_t* in) {
    return _mm_unpacklo_epi8(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(in)), zero);
  };
  // There is no shuffle of bytes here: the zero of a pixel is overwritten by the next one, which
  // must be there.
  for (; i + 8 < count; i += 8) {
    __m128i pixels[2];
    colours_of_8(wide(planes[0] + i), wide(planes[1] + i), wide(planes[2] + i), kReverse, pixels);
    uint32_t each[8];
    std::memcpy(each, pixels, sizeof each);
    for (int k = 0; k < 8; ++k) std::memcpy(rgb + 3 * (i + k), each + k, sizeof each[k]);
  }
#endif
  for (; i < count; ++i) {
    const int y = planes[0][i], cb = planes[1][i], cr = planes[2][i];
    rgb[3 * i + (kReverse ? 2 : 0)] = static_cast<uint8_t>(red_of(y, cb, cr));
    rgb[3 * i + 1] = static_cast<uint8_t>(green_of(y, cb, cr));
    rgb[3 * i + (kReverse ? 0 : 2)] = static_cast<uint8_t>(blue_of(y, cb, cr));
  }
}
