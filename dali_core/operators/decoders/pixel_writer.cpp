#include "dali_core/operators/decoders/pixel_writer.hpp"

#include <cstring>

#include "dali_core/operators/decoders/pixel_rules.hpp"

namespace dali_core {
namespace {

// Calls `function` with a value of the C++ type that codecs store samples as.
template <typename Function>
void visit_stored_type(DataType type, Function&& function) {
  switch (type) {
    case DataType::kUInt8:
      return function(uint8_t{});
    case DataType::kInt8:
      return function(int8_t{});
    case DataType::kUInt16:
      return function(uint16_t{});
    case DataType::kInt16:
      return function(int16_t{});
    case DataType::kUInt32:
      return function(uint32_t{});
    case DataType::kInt32:
      return function(int32_t{});
    case DataType::kFloat:
      return function(float{});
    default:
      throw std::runtime_error(std::string("samples of a file must be 8, 16 or 32 bits (got ") +
                               name_of(type) + "). Convert the file.");
  }
}

template <typename Function>
void visit_result_type(DataType type, Function&& function) {
  if (type == DataType::kFloat16) return function(Half{});
  visit_stored_type(type, function);
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

template <typename Result, typename Source>
void PixelWriter::write_as(const uint8_t* rows, int64_t stride, int64_t first,
                           int64_t count) const {
  constexpr bool same = std::is_same_v<Result, Source>;
  const float scale = range_scale<Result, Source>(stored_.range);
  const YCbCrRule ycbcr = make_ycbcr_rule<Result>(stored_.range);
  const auto sample = [scale](Source value) -> Result {
    if constexpr (same)
      return value;
    else if constexpr (std::is_unsigned_v<Source>)
      return convert_in_range<Result>(static_cast<float>(value) * scale);
    else
      return convert<Result>(static_cast<float>(value) * scale);
  };
  const auto to_ycbcr = [](float value) -> Result {
    // The headroom keeps sound samples away from the ends of the range.
    if constexpr (std::is_unsigned_v<Source>)
      return convert_in_range<Result>(value);
    else
      return convert<Result>(value);
  };
  const int channels = stored_.channels;
  for (int64_t y = 0; y < count; ++y) {
    const Source* in = reinterpret_cast<const Source*>(rows + y * stride);
    Result* out = reinterpret_cast<Result*>(output_) + origin_ + (first + y) * step_y_;
    switch (change_) {
      case PixelChange::kNone:
        if (step_x_ == channels) {
          for (int64_t i = 0; i < width_ * channels; ++i) out[i] = sample(in[i]);
        } else if (channels == 3) {
          for (int64_t x = 0; x < width_; ++x, in += 3, out += step_x_)
            for (int c = 0; c < 3; ++c) out[c] = sample(in[c]);
        } else {
          for (int64_t x = 0; x < width_; ++x, in += channels, out += step_x_)
            for (int c = 0; c < channels; ++c) out[c] = sample(in[c]);
        }
        break;
      case PixelChange::kSwapRedBlue:
        for (int64_t x = 0; x < width_; ++x, in += channels, out += step_x_) {
          out[0] = sample(in[2]);
          out[1] = sample(in[1]);
          out[2] = sample(in[0]);
        }
        break;
      case PixelChange::kRgbToYCbCr:
        for (int64_t x = 0; x < width_; ++x, in += channels, out += step_x_) {
          const float r = in[0], g = in[1], b = in[2];
          out[0] = to_ycbcr(dot3(ycbcr.luma, r, g, b) + ycbcr.luma_offset);
          out[1] = to_ycbcr(dot3(ycbcr.blue, r, g, b) + ycbcr.chroma_offset);
          out[2] = to_ycbcr(dot3(ycbcr.red, r, g, b) + ycbcr.chroma_offset);
        }
        break;
    }
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
  visit_result_type(dtype_, [&](auto result) {
    visit_stored_type(stored_.sample_type, [&](auto source) {
      write_as<decltype(result), decltype(source)>(static_cast<const uint8_t*>(rows), stride, first,
                                                   count);
    });
  });
}

}  // namespace dali_core
