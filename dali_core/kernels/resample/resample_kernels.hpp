// Inner loops of resampling, compiled for every instruction set (simd.hpp).
#pragma once

#include <cstdint>

namespace dali_core {

// Fixed point of the uint8 path: weights have 14 fractional bits, rows after the vertical pass 6.
constexpr int kResampleWeightBits = 14;
constexpr int kResampleRowBits = 6;
// More taps than this would let rounding errors of 16-bit sums add up: such axes use float.
constexpr int kResampleMaxFixedTaps = 32;
// Elements that the horizontal kernels may read past a row's end.
constexpr int kResampleRowPadding = 32;
// Outputs of the fixed horizontal kernel are weighted in blocks of this many.
constexpr int kResampleFixedBlock = 8;

// Every output pixel is one input pixel; sums in fixed point; sums in float.
enum class ResampleArithmetic : int32_t { kCopy, kFixed, kFloat };

struct ResampleKernels {
  // Vertical pass: out[i] = sum over k of weights[k] * rows[k][i], summed in the order of k.
  using Blend = void (*)(const void* const* rows, const float* weights, int taps, int64_t count,
                         float* out);
  Blend blend_uint8, blend_int16, blend_uint16, blend_float;

  // Horizontal pass: out[x, c] = sum over k of weights[x, k] * row[starts[x] + k * channels + c].
  void (*gather)(const float* row, const int32_t* starts, const float* weights, int taps,
                 int channels, int64_t count, float* out);

  // Rounds half away from zero and saturates.
  void (*round_uint8)(const float* from, int64_t count, uint8_t* to);
  void (*round_int16)(const float* from, int64_t count, int16_t* to);
  void (*round_uint16)(const float* from, int64_t count, uint16_t* to);

  // The two passes for uint8 in fixed point. Weights of the horizontal one come from
  // `pack_fixed_weights`; it reads `starts` up to the next multiple of kResampleFixedBlock.
  void (*blend_fixed)(const void* const* rows, const int16_t* weights, int taps, int64_t count,
                      int16_t* out);
  void (*gather_fixed)(const int16_t* row, const int32_t* starts, const int16_t* weights, int taps,
                       int channels, int64_t count, uint8_t* out);

  // Four rows of single values to one row of four channels, and back.
  void (*interleave_float)(const float* const* rows, int64_t count, float* out);
  void (*interleave_int16)(const int16_t* const* rows, int64_t count, int16_t* out);
  void (*separate_float)(const float* row, int64_t count, float* const* out);
  void (*separate_uint8)(const uint8_t* row, int64_t count, uint8_t* const* out);
};

// The kernels for this processor.
const ResampleKernels& resample_kernels();

// Rounds weights[count][taps], each output's summing to 1, to 14 bits that sum to exactly 1.
void round_weights(const float* weights, int64_t count, int taps, int16_t* rounded);

// Size in elements, and content, of the weights of `gather_fixed`: for every two outputs and every
// two taps, the two weights four times for the first output and four times for the second.
inline int64_t packed_weights_size(int64_t count, int taps) {
  const int64_t padded =
      (count + kResampleFixedBlock - 1) / kResampleFixedBlock * kResampleFixedBlock;
  return padded * ((taps + 1) / 2) * 8;
}
void pack_fixed_weights(const int16_t* rounded, int64_t count, int taps, int16_t* packed);

}  // namespace dali_core
