// Inner loops of resampling in float. No include guard: compiled once for every instruction set.

// At most four taps at a time: the sum's order stays that of one long loop over all of them.
template <int kTaps, bool kAccumulate, typename T>
void blend_some(const T* const* rows, const float* weights, int64_t count, float* __restrict out) {
  const T* __restrict row0 = rows[0];
  const T* __restrict row1 = rows[kTaps > 1 ? 1 : 0];
  const T* __restrict row2 = rows[kTaps > 2 ? 2 : 0];
  const T* __restrict row3 = rows[kTaps > 3 ? 3 : 0];
  const float weight0 = weights[0];
  const float weight1 = weights[kTaps > 1 ? 1 : 0];
  const float weight2 = weights[kTaps > 2 ? 2 : 0];
  const float weight3 = weights[kTaps > 3 ? 3 : 0];
  for (int64_t i = 0; i < count; ++i) {
    float sum = static_cast<float>(row0[i]) * weight0;
    if constexpr (kAccumulate) sum = out[i] + sum;
    if constexpr (kTaps > 1) sum += static_cast<float>(row1[i]) * weight1;
    if constexpr (kTaps > 2) sum += static_cast<float>(row2[i]) * weight2;
    if constexpr (kTaps > 3) sum += static_cast<float>(row3[i]) * weight3;
    out[i] = sum;
  }
}

template <bool kAccumulate, typename T>
void blend_up_to_four(const T* const* rows, const float* weights, int taps, int64_t count,
                      float* out) {
  if (taps == 1) return blend_some<1, kAccumulate>(rows, weights, count, out);
  if (taps == 2) return blend_some<2, kAccumulate>(rows, weights, count, out);
  if (taps == 3) return blend_some<3, kAccumulate>(rows, weights, count, out);
  blend_some<4, kAccumulate>(rows, weights, count, out);
}

template <typename T>
void blend(const void* const* untyped_rows, const float* weights, int taps, int64_t count,
           float* out) {
  const T* const* rows = reinterpret_cast<const T* const*>(untyped_rows);
  blend_up_to_four<false>(rows, weights, taps, count, out);
  for (int k = 4; k < taps; k += 4)
    blend_up_to_four<true>(rows + k, weights + k, taps - k, count, out);
}

typedef float Float4 __attribute__((vector_size(16)));

inline Float4 load4(const float* from) {
  Float4 value;
  __builtin_memcpy(&value, from, sizeof value);
  return value;
}

// Three or four channels in one register; three leave a lane unused and read one value too many.
template <int kChannels, int kTaps>
void gather_pixels(const float* row, const int32_t* starts, const float* weights, int dynamic_taps,
                   int64_t count, float* out) {
  const int taps = kTaps ? kTaps : dynamic_taps;
  for (int64_t x = 0; x < count; ++x) {
    const float* from = row + starts[x];
    Float4 sum = load4(from) * weights[0];
    for (int k = 1; k < taps; ++k) sum += load4(from + k * kChannels) * weights[k];
    weights += taps;
    // The next pixel overwrites the fourth lane; after the last one it is not ours.
    if (kChannels == 4 || x + 1 < count)
      __builtin_memcpy(out + x * kChannels, &sum, sizeof sum);
    else
      __builtin_memcpy(out + x * kChannels, &sum, 3 * sizeof(float));
  }
}

template <int kChannels>
void gather_by_taps(const float* row, const int32_t* starts, const float* weights, int taps,
                    int64_t count, float* out) {
  switch (taps) {
    case 2:
      return gather_pixels<kChannels, 2>(row, starts, weights, taps, count, out);
    case 3:
      return gather_pixels<kChannels, 3>(row, starts, weights, taps, count, out);
    case 4:
      return gather_pixels<kChannels, 4>(row, starts, weights, taps, count, out);
    case 5:
      return gather_pixels<kChannels, 5>(row, starts, weights, taps, count, out);
    case 6:
      return gather_pixels<kChannels, 6>(row, starts, weights, taps, count, out);
    default:
      return gather_pixels<kChannels, 0>(row, starts, weights, taps, count, out);
  }
}

inline void gather(const float* row, const int32_t* starts, const float* weights, int taps,
                   int channels, int64_t count, float* out) {
  if (channels == 3) return gather_by_taps<3>(row, starts, weights, taps, count, out);
  if (channels == 4) return gather_by_taps<4>(row, starts, weights, taps, count, out);
  const int lanes = channels < 4 ? channels : 4;
  for (int64_t x = 0; x < count; ++x, weights += taps, out += channels) {
    for (int done = 0; done < channels; done += 4) {
      const int c = done + 4 <= channels ? done : channels - lanes;
      const float* from = row + starts[x] + c;
      Float4 sum = load4(from) * weights[0];
      for (int k = 1; k < taps; ++k)
        sum += load4(from + static_cast<int64_t>(k) * channels) * weights[k];
      __builtin_memcpy(out + c, &sum, static_cast<size_t>(lanes) * sizeof(float));
    }
  }
}

template <typename T>
void round_to(const float* __restrict from, int64_t count, T* __restrict to) {
  for (int64_t i = 0; i < count; ++i) to[i] = round_resampled<T>(from[i]);
}

template <typename T>
void interleave(const T* const* rows, int64_t count, T* __restrict out) {
  const T* __restrict row0 = rows[0];
  const T* __restrict row1 = rows[1];
  const T* __restrict row2 = rows[2];
  const T* __restrict row3 = rows[3];
  for (int64_t i = 0; i < count; ++i) {
    out[4 * i] = row0[i];
    out[4 * i + 1] = row1[i];
    out[4 * i + 2] = row2[i];
    out[4 * i + 3] = row3[i];
  }
}

template <typename T>
void separate(const T* __restrict row, int64_t count, T* const* out) {
  T* __restrict out0 = out[0];
  T* __restrict out1 = out[1];
  T* __restrict out2 = out[2];
  T* __restrict out3 = out[3];
  for (int64_t i = 0; i < count; ++i) {
    out0[i] = row[4 * i];
    out1[i] = row[4 * i + 1];
    out2[i] = row[4 * i + 2];
    out3[i] = row[4 * i + 3];
  }
}

#include "dali_core/kernels/resample/resample_fixed.inc.hpp"

inline const ResampleKernels& kernel_table() {
  static const ResampleKernels table = {
      blend<uint8_t>,    blend<int16_t>,      blend<uint16_t>,    blend<float>,      gather,
      round_to<uint8_t>, round_to<int16_t>,   round_to<uint16_t>, blend_fixed,       gather_fixed,
      interleave<float>, interleave<int16_t>, separate<float>,    separate<uint8_t>,
  };
  return table;
}
