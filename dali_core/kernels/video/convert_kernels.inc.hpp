// Inner loops of the conversion of planes, compiled for every instruction set (see simd.hpp), hence
// without guard.

#include "dali_core/interleaved_pixels.inc.hpp"

// Two rows of chroma, weighted.
template <typename Stored>
inline void blend_rows(const Stored* near, const Stored* far, int near_weight, int far_weight,
                       uint16_t* out, int64_t count) {
  const auto a = static_cast<uint16_t>(near_weight), b = static_cast<uint16_t>(far_weight);
  if (b == 0) {
    for (int64_t i = 0; i < count; ++i) out[i] = static_cast<uint16_t>(near[i] * a);
    return;
  }
  for (int64_t i = 0; i < count; ++i)
    out[i] = static_cast<uint16_t>(static_cast<uint16_t>(near[i] * a) +
                                   static_cast<uint16_t>(far[i] * b));
}

// Gives each of `count` values 1 << shift neighbours; in[-1] and in[count] exist.
inline void spread_row(const uint16_t* in, int shift, uint16_t* out, int64_t count) {
  if (shift == 1) {
    for (int64_t i = 0; i < count; ++i) {
      out[2 * i] = static_cast<uint16_t>(3 * in[i] + in[i - 1]);
      out[2 * i + 1] = static_cast<uint16_t>(3 * in[i] + in[i + 1]);
    }
    return;
  }
  const int size = 1 << shift;
  for (int64_t i = 0; i < count; ++i)
    for (int phase = 0; phase < size; ++phase) {
      const ChromaWeights weights = chroma_weights(phase, shift);
      out[size * i + phase] =
          static_cast<uint16_t>(weights.near * in[i] + weights.far * in[i + weights.step]);
    }
}

// Chroma of `count` pixels from column `x` on, where samples are spread evenly over the frame.
template <typename Stored>
inline void spread_evenly(const Stored* near, const Stored* far, const PlaneRows& rows, int64_t x,
                          int64_t count, float* out) {
  const float share = rows.far_share;
  const auto blended = [=](int64_t sample) {
    return static_cast<float>(near[sample]) * (1 - share) + static_cast<float>(far[sample]) * share;
  };
  int64_t sample = -1;
  float left = 0, right = 0;
  for (int64_t i = 0; i < count; ++i) {
    const ChromaPlace place = rows.spacing.place(x + i);
    if (place.near != sample) {
      left = place.near == sample + 1 && i > 0 ? right : blended(place.near);
      right = blended(rows.spacing.next(place.near));
      sample = place.near;
    }
    out[i] = left * (1 - place.far) + right * place.far;
  }
}

// The offsets of a mix have the half in them that makes truncation round.
inline uint8_t mixed_value(float value) {
  int32_t rounded = static_cast<int32_t>(value);
  rounded = rounded < 0 ? 0 : rounded;
  return static_cast<uint8_t>(rounded > 255 ? 255 : rounded);
}

#if DC_SIMD_BYTES >= 32
// Sixteen values in their order, as two registers of eight.
struct SixteenFloats {
  __m256 low, high;

  explicit SixteenFloats(const uint8_t* values) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(values));
    low = _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(bytes));
    high = _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_srli_si128(bytes, 8)));
  }
  explicit SixteenFloats(const uint16_t* values) {
    const auto* const words = reinterpret_cast<const __m128i*>(values);
    low = _mm256_cvtepi32_ps(_mm256_cvtepu16_epi32(_mm_loadu_si128(words)));
    high = _mm256_cvtepi32_ps(_mm256_cvtepu16_epi32(_mm_loadu_si128(words + 1)));
  }
  explicit SixteenFloats(const float* values)
      : low(_mm256_loadu_ps(values)), high(_mm256_loadu_ps(values + 8)) {}
  SixteenFloats(__m256 low, __m256 high) : low(low), high(high) {}

  SixteenFloats operator*(float factor) const {
    const __m256 all = _mm256_set1_ps(factor);
    return {_mm256_mul_ps(low, all), _mm256_mul_ps(high, all)};
  }
  SixteenFloats operator+(float offset) const {
    const __m256 all = _mm256_set1_ps(offset);
    return {_mm256_add_ps(low, all), _mm256_add_ps(high, all)};
  }
  SixteenFloats operator+(const SixteenFloats& other) const {
    return {_mm256_add_ps(low, other.low), _mm256_add_ps(high, other.high)};
  }

  // Saturated to 16 bits; the groups of four words are in the order 0, 2, 1, 3.
  __m256i words() const {
    return _mm256_packs_epi32(_mm256_cvttps_epi32(low), _mm256_cvttps_epi32(high));
  }
};
#endif

// Writes pixels in the order of the outputs, or in reverse order. The order of all sums is the
// same, so what is left out because its factor is 0 changes nothing.
template <typename Stored, typename Chroma>
inline void mix_to_rgb(const Stored* luma, const Chroma* blue, const Chroma* red,
                       const PlaneMix& given, bool swaps, uint8_t* __restrict out, int64_t count) {
  const PlaneMix mix = given;
  int64_t i = 0;
#if DC_SIMD_BYTES >= 32
  const Reorder48 join([](int byte) { return byte % 3 * 16 + byte / 3; });
  const __m256i in_order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
  for (; i + 16 <= count; i += 16) {
    const SixteenFloats y = SixteenFloats(luma + i) * mix.factors[0][0];
    const SixteenFloats u(blue + i), v(red + i);
    const __m256i r = (y + v * mix.factors[0][2] + mix.offsets[0]).words();
    const __m256i g = (y + u * mix.factors[1][1] + v * mix.factors[1][2] + mix.offsets[1]).words();
    const __m256i b = (y + u * mix.factors[2][1] + mix.offsets[2]).words();
    const __m256i ends =
        _mm256_permutevar8x32_epi32(_mm256_packus_epi16(swaps ? b : r, swaps ? r : b), in_order);
    const __m128i middle =
        _mm256_castsi256_si128(_mm256_permutevar8x32_epi32(_mm256_packus_epi16(g, g), in_order));
    const __m128i begin = _mm256_castsi256_si128(ends);
    const __m128i end = _mm256_extracti128_si256(ends, 1);
    join(begin, middle, end, out + 3 * i);
  }
#endif
  for (; i < count; ++i) {
    const float y = static_cast<float>(luma[i]) * mix.factors[0][0];
    const float u = static_cast<float>(blue[i]);
    const float v = static_cast<float>(red[i]);
    out[3 * i + (swaps ? 2 : 0)] = mixed_value(y + v * mix.factors[0][2] + mix.offsets[0]);
    out[3 * i + 1] =
        mixed_value(y + u * mix.factors[1][1] + v * mix.factors[1][2] + mix.offsets[1]);
    out[3 * i + (swaps ? 0 : 2)] = mixed_value(y + u * mix.factors[2][1] + mix.offsets[2]);
  }
}

template <typename Stored, typename Chroma>
inline void mix_any(const Stored* first, const Chroma* second, const Chroma* third,
                    const float (&given)[3], float offset, uint8_t* __restrict out, int64_t count) {
  const float a = given[0], b = given[1], c = given[2];
  for (int64_t i = 0; i < count; ++i)
    out[i] = mixed_value(static_cast<float>(first[i]) * a + static_cast<float>(second[i]) * b +
                         static_cast<float>(third[i]) * c + offset);
}

template <typename Stored>
inline void mix_one(const Stored* values, float factor, float offset, uint8_t* __restrict out,
                    int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    out[i] = mixed_value(static_cast<float>(values[i]) * factor + offset);
}

// `count` pixels of a row, at most kChunkPixels, from column `x` on.
template <typename Stored>
inline void convert_chunk(const PlaneRows& rows, const PlaneMix& mix, int64_t x, int64_t count,
                          uint8_t* out) {
  const auto* const luma = static_cast<const Stored*>(rows.first) + x;
  if (rows.kind == MixKind::kOne)
    return mix_one(luma, mix.factors[0][0], mix.offsets[0], out, count);

  alignas(64) uint8_t mixed[3][kChunkPixels];
  if (rows.kind == MixKind::kGray) {
    for (int k = 0; k < 3; ++k) mix_one(luma, mix.factors[k][0], mix.offsets[k], mixed[k], count);
  } else if (!rows.is_subsampled) {
    const auto* const second = static_cast<const Stored*>(rows.near[0]) + x;
    const auto* const third = static_cast<const Stored*>(rows.near[1]) + x;
    if (rows.kind == MixKind::kToRgb)
      return mix_to_rgb(luma, second, third, mix, rows.swaps, out, count);
    for (int k = 0; k < rows.num_outputs; ++k)
      mix_any(luma, second, third, mix.factors[k], mix.offsets[k],
              rows.num_outputs == 1 ? out : mixed[k], count);
  } else if (rows.is_spread) {
    alignas(64) float chroma[2][kChunkPixels];
    for (int plane = 0; plane < 2; ++plane)
      spread_evenly(static_cast<const Stored*>(rows.near[plane]),
                    static_cast<const Stored*>(rows.far[plane]), rows, x, count, chroma[plane]);
    if (rows.kind == MixKind::kToRgb)
      return mix_to_rgb(luma, chroma[0], chroma[1], mix, rows.swaps, out, count);
    for (int k = 0; k < rows.num_outputs; ++k)
      mix_any(luma, chroma[0], chroma[1], mix.factors[k], mix.offsets[k],
              rows.num_outputs == 1 ? out : mixed[k], count);
  } else {
    const int64_t first = x >> rows.shift_x;
    const int64_t last = (x + count - 1) >> rows.shift_x;
    const int64_t size = last - first + 1;
    const int64_t left = first > 0 ? first - 1 : 0;
    const int64_t right =
        last + 1 < rows.spacing.num_samples ? last + 1 : rows.spacing.num_samples - 1;
    alignas(64) uint16_t blended[kChunkPixels + 16];
    alignas(64) uint16_t spread[2][kChunkPixels + 16];
    const uint16_t* chroma[2];
    for (int plane = 0; plane < 2; ++plane) {
      const auto* const near = static_cast<const Stored*>(rows.near[plane]);
      const auto* const far = static_cast<const Stored*>(rows.far[plane]);
      uint16_t* const middle = blended + 8;
      blend_rows(near + left, far + left, rows.near_weight, rows.far_weight,
                 middle - (first - left), right - left + 1);
      if (left == first) middle[-1] = middle[0];
      if (right == last) middle[size] = middle[size - 1];
      chroma[plane] = middle;
      if (rows.shift_x > 0) {
        spread_row(middle, rows.shift_x, spread[plane], size);
        chroma[plane] = spread[plane] + (x - (first << rows.shift_x));
      } else if (plane == 0) {
        // The other plane is blended into the same memory.
        std::memcpy(spread[0], middle, static_cast<size_t>(size) * sizeof(uint16_t));
        chroma[0] = spread[0];
      }
    }
    if (rows.kind == MixKind::kToRgb)
      return mix_to_rgb(luma, chroma[0], chroma[1], mix, rows.swaps, out, count);
    for (int k = 0; k < rows.num_outputs; ++k)
      mix_any(luma, chroma[0], chroma[1], mix.factors[k], mix.offsets[k],
              rows.num_outputs == 1 ? out : mixed[k], count);
  }
  if (rows.num_outputs == 1) return;
  const uint8_t* const order[3] = {mixed[rows.swaps ? 2 : 0], mixed[1], mixed[rows.swaps ? 0 : 2]};
  join_pixels_of_3(order, out, count);
}
