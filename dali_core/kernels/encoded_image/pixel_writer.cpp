#include "dali_core/kernels/encoded_image/pixel_writer.hpp"

#include <algorithm>
#include <cstring>
#include <memory>

#include "dali_core/kernels/convert/convert_elements.hpp"
#include "dali_core/kernels/encoded_image/pixel_rules.hpp"

namespace dali_core {
namespace {

constexpr int64_t kSamplesInBlock = 1024;

void check_stored_type(DataType type) {
  switch (type) {
    case DataType::kUInt8:
    case DataType::kInt8:
    case DataType::kUInt16:
    case DataType::kInt16:
    case DataType::kUInt32:
    case DataType::kInt32:
    case DataType::kFloat:
      return;
    default:
      throw std::runtime_error(std::string("samples of a file must be 8, 16 or 32 bits (got ") +
                               name_of(type) + "). Convert the file.");
  }
}

bool is_unsigned(DataType type) {
  return type == DataType::kUInt8 || type == DataType::kUInt16 || type == DataType::kUInt32;
}

SampleRule sample_rule(DataType type, float stored_range) {
  return visit_type(type, [&](auto zero) {
    using Result = decltype(zero);
    return SampleRule{full_range<Result>() / stored_range, make_ycbcr_rule<Result>(stored_range)};
  });
}

// Copies pixels to places `step` elements apart.
template <typename T>
void place_pixels(const void* input, int64_t count, int64_t channels, bool swaps_red_blue,
                  void* output, int64_t step) {
  const T* in = static_cast<const T*>(input);
  T* out = static_cast<T*>(output);
  if (swaps_red_blue) {
    for (int64_t x = 0; x < count; ++x, in += channels, out += step) {
      out[0] = in[2];
      out[1] = in[1];
      out[2] = in[0];
    }
  } else if (channels == 3) {
    for (int64_t x = 0; x < count; ++x, in += 3, out += step)
      for (int c = 0; c < 3; ++c) out[c] = in[c];
  } else {
    for (int64_t x = 0; x < count; ++x, in += channels, out += step)
      for (int64_t c = 0; c < channels; ++c) out[c] = in[c];
  }
}

void place_pixels_of(DataType type, const void* in, int64_t count, int64_t channels,
                     bool swaps_red_blue, void* out, int64_t step) {
  switch (size_of(type)) {
    case 1:
      return place_pixels<uint8_t>(in, count, channels, swaps_red_blue, out, step);
    case 2:
      return place_pixels<uint16_t>(in, count, channels, swaps_red_blue, out, step);
    default:
      return place_pixels<uint32_t>(in, count, channels, swaps_red_blue, out, step);
  }
}

void scale_samples(float* values, int64_t count, float scale) {
  for (int64_t i = 0; i < count; ++i) values[i] *= scale;
}

void change_to_ycbcr(float* values, int64_t pixels, int64_t channels, const YCbCrRule& given) {
  const YCbCrRule rule = given;
  for (int64_t x = 0; x < pixels; ++x) {
    float* const pixel = values + x * channels;
    const float r = pixel[0], g = pixel[1], b = pixel[2];
    pixel[0] = dot3(rule.luma, r, g, b) + rule.luma_offset;
    pixel[1] = dot3(rule.blue, r, g, b) + rule.chroma_offset;
    pixel[2] = dot3(rule.red, r, g, b) + rule.chroma_offset;
  }
}

template <typename T>
void store_in_range(const float* values, int64_t count, void* output) {
  T* const __restrict out = static_cast<T*>(output);
  for (int64_t i = 0; i < count; ++i) out[i] = convert_in_range<T>(values[i]);
}

// Samples without a sign are inside the range of every type: the headroom keeps sound ones away
// from its ends.
void store_samples(const float* values, int64_t count, bool in_range, void* out, DataType type) {
  if (in_range && type == DataType::kUInt8) return store_in_range<uint8_t>(values, count, out);
  if (in_range && type == DataType::kInt8) return store_in_range<int8_t>(values, count, out);
  if (in_range && type == DataType::kUInt16) return store_in_range<uint16_t>(values, count, out);
  if (in_range && type == DataType::kInt16) return store_in_range<int16_t>(values, count, out);
  convert_from_floats(values, out, type, count);
}

}  // namespace

PixelWriter::PixelWriter(const StoredPixels& stored, PixelChange change, DataType dtype,
                         const Orientation& orientation, int64_t height, int64_t width)
    : stored_(stored), change_(change), dtype_(dtype), orientation_(orientation), width_(width) {
  const int64_t result_width = orientation.transpose ? height : width;
  const int64_t result_height = orientation.transpose ? width : height;
  const int64_t along_x = stored.channels * (orientation.flip_x ? -1 : 1);
  const int64_t along_y = stored.channels * result_width * (orientation.flip_y ? -1 : 1);
  step_x_ = orientation.transpose ? along_y : along_x;
  step_y_ = orientation.transpose ? along_x : along_y;
  origin_ = (orientation.flip_x ? (result_width - 1) * stored.channels : 0) +
            (orientation.flip_y ? (result_height - 1) * result_width * stored.channels : 0);
}

bool PixelWriter::is_copy() const {
  return change_ == PixelChange::kNone && dtype_ == stored_.sample_type &&
         orientation_.is_identity();
}

int64_t PixelWriter::stored_row_bytes() const {
  return width_ * stored_.channels * size_of(stored_.sample_type);
}

void PixelWriter::move_row(const void* in, void* out) const {
  const bool swaps = change_ == PixelChange::kSwapRedBlue;
  if (step_x_ == stored_.channels && !swaps)
    std::memcpy(out, in, static_cast<size_t>(stored_row_bytes()));
  else
    place_pixels_of(dtype_, in, width_, stored_.channels, swaps, out, step_x_);
}

void PixelWriter::compute_row(const SampleRule& rule, const void* in, void* out,
                              float* values) const {
  const int64_t channels = stored_.channels;
  const bool swaps = change_ == PixelChange::kSwapRedBlue;
  const bool in_place = step_x_ == channels && !swaps;
  const int64_t pixels_in_block = std::max<int64_t>(kSamplesInBlock / channels, 1);
  for (int64_t first = 0; first < width_; first += pixels_in_block) {
    const int64_t pixels = std::min(pixels_in_block, width_ - first);
    const int64_t count = pixels * channels;
    convert_to_floats(element_at(in, stored_.sample_type, first * channels), stored_.sample_type,
                      values, count);
    if (change_ == PixelChange::kRgbToYCbCr)
      change_to_ycbcr(values, pixels, channels, rule.ycbcr);
    else
      scale_samples(values, count, rule.scale);
    void* const to = element_at(out, dtype_, first * step_x_);
    void* const stored = in_place ? to : values + count;
    store_samples(values, count, is_unsigned(stored_.sample_type), stored, dtype_);
    if (!in_place) place_pixels_of(dtype_, stored, pixels, channels, swaps, to, step_x_);
  }
}

void PixelWriter::write(const void* rows, int64_t stride, int64_t first, int64_t count) const {
  if (is_copy()) {
    const int64_t bytes = stored_row_bytes();
    for (int64_t y = 0; y < count; ++y)
      std::memcpy(output_ + (first + y) * bytes, static_cast<const uint8_t*>(rows) + y * stride,
                  static_cast<size_t>(bytes));
    return;
  }
  check_stored_type(stored_.sample_type);
  if (dtype_ != DataType::kFloat16) check_stored_type(dtype_);
  const bool moves = dtype_ == stored_.sample_type && change_ != PixelChange::kRgbToYCbCr;
  const SampleRule rule = sample_rule(dtype_, stored_.range);
  // Samples of a block, as float and as they are stored.
  const int64_t block = std::max<int64_t>(kSamplesInBlock, stored_.channels);
  const std::unique_ptr<float[]> values(new float[moves ? 0 : static_cast<size_t>(2 * block)]);
  for (int64_t y = 0; y < count; ++y) {
    const void* const in = static_cast<const uint8_t*>(rows) + y * stride;
    void* const out = element_at(output_, dtype_, origin_ + (first + y) * step_y_);
    if (moves)
      move_row(in, out);
    else
      compute_row(rule, in, out, values.get());
  }
}

}  // namespace dali_core
