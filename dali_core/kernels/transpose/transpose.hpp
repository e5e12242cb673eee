// fn.transpose: the fewest dimensions that describe the move, with where neighbours along them lie
// in input and output (host loops and device kernels share this).
#pragma once

#include <cstdint>

#include "dali_core/geometry.hpp"
#include "dali_core/types.hpp"

namespace dali_core {

// Dimensions in the order of the output, with the distance of neighbours in input and output.
struct TransposedDims {
  int ndim = 0;
  int64_t extent[kMaxDims] = {};
  int64_t input_stride[kMaxDims] = {};
  int64_t output_stride[kMaxDims] = {};
};

// What moves: runs of `run` elements that are contiguous in the input and in the output. With no
// dimension left, everything stays in order.
struct Transposition {
  int64_t run = 1;
  TransposedDims dims;
};

inline Transposition plan_transposition(const Shape& input, const int (&order)[kMaxDims]) {
  const Strides strides = dense_strides(input);
  Transposition plan;
  TransposedDims& dims = plan.dims;
  for (int i = 0; i < input.ndim; ++i) {
    const int64_t extent = input[order[i]];
    const int64_t stride = strides[order[i]];
    if (extent == 1) continue;
    const int last = dims.ndim - 1;
    if (last >= 0 && dims.input_stride[last] == stride * extent) {
      dims.extent[last] *= extent;
      dims.input_stride[last] = stride;
    } else {
      dims.extent[dims.ndim] = extent;
      dims.input_stride[dims.ndim++] = stride;
    }
  }
  if (dims.ndim > 0 && dims.input_stride[dims.ndim - 1] == 1) plan.run = dims.extent[--dims.ndim];
  int64_t stride = plan.run;
  for (int i = dims.ndim - 1; i >= 0; --i) {
    dims.output_stride[i] = stride;
    stride *= dims.extent[i];
  }
  return plan;
}

}  // namespace dali_core
