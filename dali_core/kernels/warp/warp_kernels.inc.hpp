// Inner loops of warps, compiled for every instruction set (see simd.hpp), hence without guard. All
// levels do the arithmetic of dali_core/warp.hpp.

template <int kDims>
void find_affine(const void* rule, const int32_t* position, int count,
                 float (*coordinates)[kWarpBlock]) {
  const auto& map = *static_cast<const WarpMap<kDims>*>(rule);
  for (int d = 0; d < kDims; ++d) {
    const float factor = map.rows[d][0];
    const float offset = row_offset<kDims>(map.rows[d], position);
    const int32_t x = position[0];
    for (int i = 0; i < count; ++i) coordinates[d][i] = mapped_coordinate(factor, offset, x + i);
  }
}

// The rule is a WarpMap.
template <int kDims>
WarpCoordinates<kDims> affine_coordinates() {
  return find_affine<kDims>;
}

// Offsets of the nearest pixels, or -1 for the fill value.
template <int kDims>
void find_nearest(const WarpSource<kDims>& source, int count, WarpBlock<kDims>& block) {
  int32_t* __restrict offsets = block.offsets;
  int32_t* __restrict outside = block.states;
  for (int i = 0; i < count; ++i) offsets[i] = outside[i] = 0;
  for (int d = 0; d < kDims; ++d) {
    const int32_t extent = source.extent[d], stride = source.stride[d];
    const int32_t is_empty = extent == 0;
    const float* __restrict coordinates = block.coordinates[d];
    for (int i = 0; i < count; ++i) {
      const int32_t pixel = nearest_pixel(coordinates[i], extent);
      const int32_t within = repeated_border(pixel, extent);
      offsets[i] += within * stride;
      outside[i] |= (pixel - within) | is_empty;
    }
  }
  if (source.repeats_border) return;
  for (int i = 0; i < count; ++i) offsets[i] = outside[i] != 0 ? -1 : offsets[i];
}

// Neighbours and weights, and whether the fast loop may read them: it reads up to eight elements
// from the first neighbour on in each row.
template <int kDims>
void find_neighbours(const WarpSource<kDims>& source, int count, WarpBlock<kDims>& block) {
  int64_t readable = 1;
  int64_t last_row = 0;
  for (int d = 0; d < kDims; ++d) {
    readable *= source.extent[d];
    if (d > 0) last_row += source.stride[d];
  }
  readable -= last_row + 7 / source.channels + 1;
  const int32_t last = static_cast<int32_t>(readable < -1 ? -1 : readable);
  int32_t* __restrict offsets = block.offsets;
  int32_t* __restrict states = block.states;
  for (int i = 0; i < count; ++i) offsets[i] = states[i] = 0;
  for (int d = 0; d < kDims; ++d) {
    const int32_t extent = source.extent[d], stride = source.stride[d];
    const float end = static_cast<float>(extent);
    const float* __restrict coordinates = block.coordinates[d];
    float* __restrict weights = block.weights[d];
    int32_t* __restrict firsts = block.firsts[d];
    for (int i = 0; i < count; ++i) {
      const float coordinate = linear_coordinate(coordinates[i], extent);
      const LinearTaps taps = linear_taps(coordinate);
      firsts[i] = taps.first;
      weights[i] = taps.weight;
      offsets[i] += taps.first * stride;
      states[i] |= taps.first < 0 ? kAtBorder : kInside;
      states[i] |= taps.first >= extent - 1 ? kAtBorder : kInside;
      states[i] |= coordinate <= -1.0f ? kOutside : kInside;
      states[i] |= coordinate >= end ? kOutside : kInside;
    }
  }
  for (int i = 0; i < count; ++i) states[i] |= offsets[i] > last ? kAtBorder : kInside;
}

#if DC_SIMD_BYTES <= 32
#if DC_SIMD_X86
// Two neighbouring pixels of three or four channels.
#if DC_SIMD_BYTES >= 32
struct PixelPair {
  __m256 both;
};

inline __m256 load_eight(const float* from) { return _mm256_loadu_ps(from); }
inline __m256 load_eight(const int32_t* from) {
  return _mm256_cvtepi32_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
}
inline __m256 load_eight(const int16_t* from) {
  return _mm256_cvtepi32_ps(
      _mm256_cvtepi16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from))));
}
inline __m256 load_eight(const uint16_t* from) {
  return _mm256_cvtepi32_ps(
      _mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from))));
}
inline __m256 load_eight(const uint8_t* from) {
  return _mm256_cvtepi32_ps(
      _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from))));
}

template <int kChannels, typename T>
inline PixelPair load_pair(const T* from) {
  return {load_eight(from)};
}

inline PixelPair blend_pairs(PixelPair first, PixelPair second, float weight) {
  return {_mm256_add_ps(
      first.both, _mm256_mul_ps(_mm256_sub_ps(second.both, first.both), _mm256_set1_ps(weight)))};
}

template <int kChannels>
inline __m128 blend_pair(PixelPair pair, float weight) {
  const __m128 first = _mm256_castps256_ps128(pair.both);
  const __m128 high = _mm256_extractf128_ps(pair.both, 1);
  const __m128 second =
      kChannels == 4
          ? high
          : _mm_castsi128_ps(_mm_alignr_epi8(_mm_castps_si128(high), _mm_castps_si128(first), 12));
  return _mm_add_ps(first, _mm_mul_ps(_mm_sub_ps(second, first), _mm_set1_ps(weight)));
}
#else
struct PixelPair {
  __m128 first, second;
};

inline __m128 load_four(const float* from) { return _mm_loadu_ps(from); }
inline __m128 load_four(const int32_t* from) {
  return _mm_cvtepi32_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
}
inline __m128 load_four(const int16_t* from) {
  const __m128i four = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(from));
  return _mm_cvtepi32_ps(_mm_srai_epi32(_mm_unpacklo_epi16(four, four), 16));
}
inline __m128 load_four(const uint16_t* from) {
  const __m128i four = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(from));
  return _mm_cvtepi32_ps(_mm_unpacklo_epi16(four, _mm_setzero_si128()));
}
inline __m128 load_four(const uint8_t* from) {
  int32_t bytes;
  std::memcpy(&bytes, from, sizeof bytes);
  const __m128i zero = _mm_setzero_si128();
  const __m128i words = _mm_unpacklo_epi8(_mm_cvtsi32_si128(bytes), zero);
  return _mm_cvtepi32_ps(_mm_unpacklo_epi16(words, zero));
}

template <int kChannels, typename T>
inline PixelPair load_pair(const T* from) {
  return {load_four(from), load_four(from + kChannels)};
}

inline __m128 blend_four(__m128 first, __m128 second, float weight) {
  return _mm_add_ps(first, _mm_mul_ps(_mm_sub_ps(second, first), _mm_set1_ps(weight)));
}

inline PixelPair blend_pairs(PixelPair first, PixelPair second, float weight) {
  return {blend_four(first.first, second.first, weight),
          blend_four(first.second, second.second, weight)};
}

template <int kChannels>
inline __m128 blend_pair(PixelPair pair, float weight) {
  return blend_four(pair.first, pair.second, weight);
}
#endif

// Blends all rows that meet in `from`, from dimension `kDim` on.
template <int kDims, int kChannels, int kDim, typename T>
inline PixelPair blend_rows(const WarpSource<kDims>& source, const T* from, const float* weights) {
  if constexpr (kDim == kDims) {
    return load_pair<kChannels>(from);
  } else {
    const T* next = from + int64_t{source.stride[kDim]} * kChannels;
    return blend_pairs(blend_rows<kDims, kChannels, kDim + 1>(source, from, weights),
                       blend_rows<kDims, kChannels, kDim + 1>(source, next, weights),
                       weights[kDim]);
  }
}
#endif

template <int kDims, int kChannels, typename T>
void blend_neighbours(const WarpSource<kDims>& source, float fill, const WarpBlock<kDims>& block,
                      int count, float* out) {
  const T* const pixels = static_cast<const T*>(source.pixels);
  const int64_t channels = kChannels ? kChannels : source.channels;
  for (int i = 0; i < count; ++i, out += channels) {
    float weights[kDims];
    for (int d = 0; d < kDims; ++d) weights[d] = block.weights[d][i];
    if (block.states[i] == kInside) {
      const T* from = pixels + block.offsets[i] * channels;
#if DC_SIMD_X86
      if constexpr (kChannels >= 3) {
        const __m128 pixel = blend_pair<kChannels>(
            blend_rows<kDims, kChannels, 1>(source, from, weights), weights[0]);
        // The next pixel overwrites the fourth lane; after the last one it is not ours.
        if (kChannels == 4 || i + 1 < count) {
          _mm_storeu_ps(out, pixel);
        } else {
          float lanes[4];
          _mm_storeu_ps(lanes, pixel);
          for (int c = 0; c < 3; ++c) out[c] = lanes[c];
        }
        continue;
      }
#endif
      for (int64_t c = 0; c < channels; ++c)
        out[c] = blend_channel<kDims, 0>(source, from + c, weights);
    } else if ((block.states[i] & kOutside) && !source.repeats_border) {
      for (int64_t c = 0; c < channels; ++c) out[c] = fill;
    } else {
      blend_at_border<kDims, T>(source, block, i, fill, out);
    }
  }
}

template <int kDims, typename T>
void blend_by_channels(const WarpSource<kDims>& source, float fill, const WarpBlock<kDims>& block,
                       int count, float* out) {
  switch (source.channels) {
    case 1:
      return blend_neighbours<kDims, 1, T>(source, fill, block, count, out);
    case 3:
      return blend_neighbours<kDims, 3, T>(source, fill, block, count, out);
    case 4:
      return blend_neighbours<kDims, 4, T>(source, fill, block, count, out);
    default:
      return blend_neighbours<kDims, 0, T>(source, fill, block, count, out);
  }
}

template <int kDims>
WarpKernels<kDims> warp_kernels(DataType type) {
  return visit_warp_type(type, [](auto zero) {
    return WarpKernels<kDims>{find_nearest<kDims>, find_neighbours<kDims>,
                              blend_by_channels<kDims, decltype(zero)>};
  });
}
#else
// Wider registers serve what is found for many pixels at a time, not what is read for each.
template <int kDims>
WarpKernels<kDims> warp_kernels(DataType type) {
  return {find_nearest<kDims>, find_neighbours<kDims>, simd_avx2::warp_kernels<kDims>(type).blend};
}
#endif
