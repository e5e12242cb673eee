#include "dali_core/kernels/normalize/row_walk.hpp"

#include <algorithm>
#include <cstring>

#include "dali_core/kernels/convert/convert_elements.hpp"
#include "dali_core/kernels/fill/fill_elements.hpp"
#include "dali_core/simd.hpp"

#if DC_SIMD_X86
#include <immintrin.h>
#endif

namespace dali_core {
namespace {

// Writes elements of `bytes` bytes `stride` elements apart.
void scatter(const void* input, int64_t bytes, int64_t count, int64_t stride, void* output) {
  const char* in = static_cast<const char*>(input);
  char* out = static_cast<char*>(output);
  for (int64_t i = 0; i < count; ++i, in += bytes, out += stride * bytes)
    std::memcpy(out, in, static_cast<size_t>(bytes));
}

}  // namespace
}  // namespace dali_core

#define DC_SIMD_SOURCE "dali_core/kernels/normalize/normalize_kernels.inc.hpp"
#include "dali_core/simd_each_level.hpp"

namespace dali_core {

RowWalk::RowWalk(const Tensor& image, const Window& window, const int* input_axis,
                 const ImageAxes& axes, bool mirror, NormalizeRow& row,
                 const float* fill_of_channel, Tensor& output)
    : row_(row),
      fill_(fill_of_channel),
      input_(static_cast<const uint8_t*>(image.data)),
      output_(static_cast<uint8_t*>(output.data)),
      output_type_(output.type) {
  const Strides input_strides = dense_strides(image.shape);
  const Strides output_strides = dense_strides(output.shape);
  for (int i = 0; i < output.shape.ndim; ++i) {
    const int axis = input_axis[i];
    const Dimension dimension{window.start[axis], window.extent[axis], image.shape[axis],
                              input_strides[axis], output_strides[i]};
    if (axis == axes.width)
      columns_ = dimension;
    else if (axis != axes.channel)
      outer_[num_outer_++] = dimension;
  }
  row.input_pixel_stride = mirror ? -columns_.input_stride : columns_.input_stride;
  row.output_pixel_stride = columns_.output_stride;
  first_ = std::clamp<int64_t>(-columns_.start, 0, columns_.extent);
  last_ = std::clamp<int64_t>(columns_.image_extent - columns_.start, first_, columns_.extent);
  source_ = first_;
  if (mirror) {
    source_ = last_ - 1;
    const int64_t width = columns_.extent;
    const int64_t mirrored = mirrored_column(last_ - 1, width, true);
    last_ = mirrored_column(first_, width, true) + 1;
    first_ = mirrored;
  }
  source_ += columns_.start;
}

void RowWalk::walk(int level, int64_t in, int64_t out, bool inside) const {
  if (level == num_outer_) {
    if (inside && first_ < last_)
      process(input_ + in * size_of(row_.input_type), out);
    else
      fill(out, 0, columns_.extent, 0);
    return;
  }
  const Dimension& dim = outer_[level];
  for (int64_t i = 0; i < dim.extent; ++i) {
    const int64_t source = dim.start + i;
    walk(level + 1, in + source * dim.input_stride, out + i * dim.output_stride,
         inside && source >= 0 && source < dim.image_extent);
  }
}

void RowWalk::process(const uint8_t* in, int64_t out) const {
  DC_SIMD_DISPATCH(normalize_row, row_,
                   in + source_ * columns_.input_stride * size_of(row_.input_type),
                   output_ + (out + first_ * columns_.output_stride) * size_of(output_type_),
                   output_type_, last_ - first_);
  fill(out, 0, first_, 0);
  fill(out, last_, columns_.extent, 0);
  // Pixels in one piece got their padding channels along with the others.
  if (row_.order != ChannelOrder::kPixels) fill(out, first_, last_, row_.channels);
}

void RowWalk::fill(int64_t out, int64_t begin, int64_t end, int64_t channel) const {
  if (begin >= end || channel >= row_.output_channels) return;
  const int64_t bytes = size_of(output_type_);
  const int64_t stride = row_.output_pixel_stride;
  for (int64_t c = channel; c < row_.output_channels; ++c) {
    const uint64_t value = fill_bits(output_type_, fill_[c]);
    const int64_t at = out + begin * stride + c * row_.output_channel_stride;
    fill_elements(element_at(output_, output_type_, at), end - begin, bytes, value, stride);
  }
}

}  // namespace dali_core
