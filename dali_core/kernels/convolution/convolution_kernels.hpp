// Inner loops of convolution, compiled for every instruction set (simd.hpp).
#pragma once

#include <cstdint>

#include "dali_core/types.hpp"

namespace dali_core {

struct ConvolutionKernels {
  // out[i] = sum over k of weights[k] * rows[k][i], summed in the order of k; 0 without rows.
  void (*weigh_rows)(const float* const* rows, const float* weights, int64_t num_rows,
                     int64_t count, float* out);
  // Two such sums, of which the second has its rows `shift` places further on; there are
  // `num_rows` + `shift` rows, and `shift` is at most `num_rows`.
  void (*weigh_rows_twice)(const float* const* rows, const float* weights, int64_t num_rows,
                           int64_t shift, int64_t count, float* first, float* second);
  // Like the first, for rows of any type, converted to float.
  void (*weigh_typed_rows)(const void* const* rows, DataType type, const float* weights,
                           int64_t num_rows, int64_t count, float* out);
  void (*load_row)(const void* row, DataType type, int64_t count, float* out);
  // Rounds half away from zero, or half to even, and saturates.
  void (*store_row)(const float* row, int64_t count, void* out, DataType type);
  void (*store_row_to_even)(const float* row, int64_t count, void* out, DataType type);
};

// The kernels for this processor.
const ConvolutionKernels& convolution_kernels();

}  // namespace dali_core
