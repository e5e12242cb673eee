#include "dali_core/operators/color_twist/mix_colors.hpp"

#include <algorithm>
#include <cstring>

#include "dali_core/convert_elements.hpp"
#include "dali_core/simd.hpp"

#if DC_SIMD_X86
#include <immintrin.h>
#endif

#define DC_SIMD_SOURCE "dali_core/operators/color_twist/mix_colors_kernels.inc.hpp"
#include "dali_core/simd_each_level.hpp"

namespace dali_core {

void mix_colors(const ColorRun& run, const ColorMatrix& matrix) {
  DC_SIMD_DISPATCH(mix_run, run, matrix);
}

ColorResult color_result(const Tensor& image, const ColorTransform& transform,
                         const ColorOutputType& output_type) {
  const Layout layout = color_layout(image);
  check_color_type(image.type);
  check_channels(image, 3);
  const DataType type = output_type.of(image);
  return {layout, type, type == image.type && transform.is_identity()};
}

void transform_image(SampleContext& sample, const ColorTransform& transform,
                     const ColorOutputType& output_type) {
  const Tensor& image = sample.input(0);
  const ColorResult result = color_result(image, transform, output_type);
  if (result.stays) {
    sample.forward(0, image).layout = result.layout;
    return;
  }
  Tensor& output = sample.output(0, result.type, image.shape, result.layout);
  mix_colors({image.data, output.data, image.type, result.type, 3, 3, image.num_elements() / 3},
             ColorMatrix(transform));
}

}  // namespace dali_core
