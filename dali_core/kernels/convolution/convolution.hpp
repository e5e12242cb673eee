// Convolution over up to three data axes. There are two: with a product of windows, one an axis,
// and with any window. Both are sums of rows that are shifted against each other, computed in
// float by the one kernel of convolution_kernels.hpp.
#pragma once

#include <cstdint>
#include <vector>

#include "dali_core/kernels/convolution/border.hpp"
#include "dali_core/kernels/convolution/data_axes.hpp"
#include "dali_core/operator.hpp"

namespace dali_core {

// Where one plane is read and written.
struct ConvolvedPlane {
  const void* input;
  DataType input_type;
  void* output;
  DataType output_type;  // the input's type, or float
};

// Windows along depth, height and width; their extents are odd and the middle lies on the pixel.
// An axis without neighbours has the window {1}.
struct SeparableWindow {
  std::vector<float> along[3] = {{1.0f}, {1.0f}, {1.0f}};
};

// Writes the sum of convolutions with `windows`. Beyond the border the input is reflected around
// its outermost pixels. Integers round half away from zero and saturate.
void convolve_separable(SampleContext& sample, const ConvolvedPlane& plane, const DataAxes& axes,
                        const std::vector<SeparableWindow>& windows);

// Any window: weights in the order of depth, height, width. The window's element at `anchor` lies
// on the pixel, and elements are not reversed (a correlation).
struct GeneralWindow {
  const float* weights;
  int64_t extents[3];
  int64_t anchor[3];
  Border border;
  float fill_value;  // outside the image, for Border::kConstant
  bool valid;  // only places where the window lies within the image; without anchor and border
};

// Writes the convolution with one window, or the input's correlation with it. Integers round half
// to even and saturate.
void convolve_general(SampleContext& sample, const ConvolvedPlane& plane, const DataAxes& axes,
                      const GeneralWindow& window);

// The type that a convolution writes: `dtype`, or the input's if it is not given.
inline DataType convolved_type(DataType dtype, DataType input) {
  if (input == DataType::kBool)
    throw std::invalid_argument(
        "the input must have numbers, which bool has not (got bool). Use fn.cast.");
  if (dtype == DataType::kNone) return input;
  if (dtype != input && dtype != DataType::kFloat)
    throw std::invalid_argument("dtype must be FLOAT or the type of the input, " +
                                std::string(name_of(input)) + " (got " + name_of(dtype) +
                                "). Leave it out, or use fn.cast.");
  return dtype;
}

}  // namespace dali_core
