// Runs a resampling plan: vertical pass into a row buffer, horizontal pass out of it.
#include "dali_core/kernels/resample/resample.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace dali_core {
namespace {

bool has_kernels(DataType type) {
  return type == DataType::kUInt8 || type == DataType::kInt16 || type == DataType::kUInt16 ||
         type == DataType::kFloat;
}

ResampleKernels::Blend blend_for(DataType type) {
  const ResampleKernels& kernels = resample_kernels();
  switch (type) {
    case DataType::kUInt8:
      return kernels.blend_uint8;
    case DataType::kInt16:
      return kernels.blend_int16;
    case DataType::kUInt16:
      return kernels.blend_uint16;
    default:
      return kernels.blend_float;
  }
}

void round_row(const float* from, int64_t count, DataType type, void* to) {
  const ResampleKernels& kernels = resample_kernels();
  switch (type) {
    case DataType::kUInt8:
      return kernels.round_uint8(from, count, static_cast<uint8_t*>(to));
    case DataType::kInt16:
      return kernels.round_int16(from, count, static_cast<int16_t*>(to));
    case DataType::kUInt16:
      return kernels.round_uint16(from, count, static_cast<uint16_t*>(to));
    default:
      visit_type(type, [&](auto zero) {
        using T = decltype(zero);
        for (int64_t i = 0; i < count; ++i) static_cast<T*>(to)[i] = convert<T>(from[i]);
      });
  }
}

template <int kBytes>
void copy_pixels(const char* row, const int32_t* starts, int64_t count, char* to) {
  for (int64_t x = 0; x < count; ++x)
    std::memcpy(to + x * kBytes, row + static_cast<int64_t>(starts[x]) * kBytes, kBytes);
}

void copy_pixels_of(int64_t bytes, const char* row, const int32_t* starts, int64_t count,
                    char* to) {
  switch (bytes) {
    case 1:
      return copy_pixels<1>(row, starts, count, to);
    case 2:
      return copy_pixels<2>(row, starts, count, to);
    case 3:
      return copy_pixels<3>(row, starts, count, to);
    case 4:
      return copy_pixels<4>(row, starts, count, to);
    case 8:
      return copy_pixels<8>(row, starts, count, to);
    case 12:
      return copy_pixels<12>(row, starts, count, to);
    default:
      for (int64_t x = 0; x < count; ++x)
        std::memcpy(to + x * bytes, row + starts[x] * bytes, static_cast<size_t>(bytes));
  }
}

// Hands out parts of one block; from a null block, only the total matters.
class Carver {
 public:
  explicit Carver(char* block) : block_(block) {}

  template <typename T>
  T* take(int64_t count) {
    char* part = block_ ? block_ + used_ : nullptr;
    const auto checked = static_cast<size_t>(checked_extent(count, "temporary memory"));
    used_ += (checked * sizeof(T) + 63) / 64 * 64;
    return reinterpret_cast<T*>(part);
  }
  size_t used() const { return used_; }

 private:
  char* block_;
  size_t used_ = 0;
};

}  // namespace

ResampleArithmetic choose_arithmetic(const AxisTaps& rows, const AxisTaps& columns, DataType input,
                                     DataType output) {
  if (rows.is_copy() && columns.is_copy()) return ResampleArithmetic::kCopy;
  const bool is_fixed = input == DataType::kUInt8 && output == DataType::kUInt8 &&
                        rows.num_taps() <= kResampleMaxFixedTaps &&
                        columns.num_taps() <= kResampleMaxFixedTaps;
  return is_fixed ? ResampleArithmetic::kFixed : ResampleArithmetic::kFloat;
}

ResamplePlan::ResamplePlan(const ResampleAxis& rows, const ResampleAxis& columns, int channels,
                           DataType input, DataType output)
    : vertical_(running(rows)),
      horizontal_(columns),
      channels_(channels),
      input_(input),
      output_(output),
      gather_(choose_arithmetic(vertical_, horizontal_, input, output) ==
              ResampleArithmetic::kCopy),
      fixed_(choose_arithmetic(vertical_, horizontal_, input, output) ==
             ResampleArithmetic::kFixed),
      native_(has_kernels(input)) {
  scratch_bytes_ = carve(nullptr);
}

size_t ResamplePlan::carve(char* block) {
  Carver carver(block);
  const int64_t height = output_height();
  const int64_t width = output_width();
  const int64_t columns = column_end() - column_begin();
  const int lanes = channels_ == 1 ? 4 : channels_;
  const int group = channels_ == 1 ? 4 : 1;
  vertical_starts_ = carver.take<int32_t>(height);
  vertical_weights_ = carver.take<float>(height * vertical_.num_taps());
  horizontal_starts_ = carver.take<int32_t>(width + kResampleFixedBlock);
  horizontal_weights_ = carver.take<float>(width * horizontal_.num_taps());
  if (gather_) return carver.used();
  row_pointers_ = carver.take<const void*>(vertical_.num_taps());
  row_size_ = std::max(columns, width) * channels_ + kResampleRowPadding;
  blended_ = carver.take<float>(row_size_ * group);
  result_ = carver.take<float>(width * lanes + kResampleRowPadding);
  if (group > 1) interleaved_ = carver.take<float>(columns * lanes + kResampleRowPadding);
  if (!native_) converted_ = carver.take<float>(columns * channels_ * vertical_.num_taps());
  if (fixed_) {
    vertical_fixed_ = carver.take<int16_t>(height * vertical_.num_taps());
    horizontal_rounded_ = carver.take<int16_t>(width * horizontal_.num_taps());
    horizontal_fixed_ = carver.take<int16_t>(packed_weights_size(width, horizontal_.num_taps()));
  }
  return carver.used();
}

void ResamplePlan::bind(void* scratch) {
  carve(static_cast<char*>(scratch));
  vertical_.fill(vertical_starts_, vertical_weights_);
  horizontal_.fill(horizontal_starts_, horizontal_weights_);
  const int64_t height = output_height();
  const int64_t width = output_width();
  if (width == 0) return;
  const int step = gather_ ? 1 : channels_ == 1 ? 4 : channels_;
  for (int64_t x = 0; x < width; ++x)
    horizontal_starts_[x] = static_cast<int32_t>((horizontal_starts_[x] - column_begin()) * step);
  in_order_ = gather_;
  for (int64_t x = 0; x < width && in_order_; ++x) in_order_ = horizontal_starts_[x] == x;
  // The fixed kernel looks at whole blocks.
  std::fill_n(horizontal_starts_ + width, kResampleFixedBlock, horizontal_starts_[width - 1]);
  if (!fixed_) return;
  round_weights(vertical_weights_, height, vertical_.num_taps(), vertical_fixed_);
  round_weights(horizontal_weights_, width, horizontal_.num_taps(), horizontal_rounded_);
  pack_fixed_weights(horizontal_rounded_, width, horizontal_.num_taps(), horizontal_fixed_);
}

void ResamplePlan::source_rows(const ResampleImage& image, int64_t y) const {
  const int64_t pixel = size_of(input_) * channels_;
  const char* first = static_cast<const char*>(image.data) +
                      (vertical_starts_[y] - image.first_row) * image.row_stride +
                      (column_begin() - image.first_column) * pixel;
  const int64_t count = (column_end() - column_begin()) * channels_;
  for (int k = 0; k < vertical_.num_taps(); ++k) {
    const char* row = first + k * image.row_stride;
    if (native_) {
      row_pointers_[k] = row;
    } else {
      float* storage = converted_ + k * count;
      visit_type(input_, [&](auto zero) {
        using T = decltype(zero);
        for (int64_t i = 0; i < count; ++i)
          storage[i] = convert<float>(reinterpret_cast<const T*>(row)[i]);
      });
      row_pointers_[k] = storage;
    }
  }
}

void ResamplePlan::make_rows(const ResampleImage& image, int64_t y, int count,
                             void* const* rows) const {
  if (output_width() == 0) return;
  if (gather_) {
    for (int i = 0; i < count; ++i) copy_row(image, y + i, rows[i]);
  } else if (fixed_) {
    make_fixed_rows(image, y, count, rows);
  } else {
    make_float_rows(image, y, count, rows);
  }
}

void ResamplePlan::copy_row(const ResampleImage& image, int64_t y, void* row) const {
  const int64_t pixel = size_of(input_) * channels_;
  const int64_t width = output_width();
  const char* from = static_cast<const char*>(image.data) +
                     (vertical_starts_[y] - image.first_row) * image.row_stride +
                     (column_begin() - image.first_column) * pixel;
  if (input_ == output_) {
    if (in_order_)
      std::memcpy(row, from, static_cast<size_t>(width * pixel));
    else
      copy_pixels_of(pixel, from, horizontal_starts_, width, static_cast<char*>(row));
    return;
  }
  visit_type(input_, [&](auto input_zero) {
    visit_type(output_, [&](auto output_zero) {
      using In = decltype(input_zero);
      using Out = decltype(output_zero);
      Out* to = static_cast<Out*>(row);
      for (int64_t x = 0; x < width; ++x) {
        const In* pixel_from =
            reinterpret_cast<const In*>(from) + int64_t{horizontal_starts_[x]} * channels_;
        for (int c = 0; c < channels_; ++c) *to++ = convert<Out>(pixel_from[c]);
      }
    });
  });
}

void ResamplePlan::make_float_rows(const ResampleImage& image, int64_t y, int count,
                                   void* const* rows) const {
  const ResampleKernels& kernels = resample_kernels();
  const auto blend = blend_for(native_ ? input_ : DataType::kFloat);
  const int64_t columns = column_end() - column_begin();
  const int64_t width = output_width();
  const int taps = vertical_.num_taps();
  float* blended[4];  // the last group may be short: it is filled up with its first row
  for (int i = 0; i < 4; ++i) blended[i] = blended_ + (i < count ? i : 0) * row_size_;
  for (int i = 0; i < count; ++i) {
    source_rows(image, y + i);
    blend(row_pointers_, vertical_weights_ + (y + i) * taps, taps, columns * channels_, blended[i]);
  }
  const bool direct = output_ == DataType::kFloat;
  if (channels_ != 1) {
    float* result = direct ? static_cast<float*>(rows[0]) : result_;
    kernels.gather(blended[0], horizontal_starts_, horizontal_weights_, horizontal_.num_taps(),
                   channels_, width, result);
    if (!direct) round_row(result, width * channels_, output_, rows[0]);
    return;
  }
  kernels.interleave_float(blended, columns, interleaved_);
  kernels.gather(interleaved_, horizontal_starts_, horizontal_weights_, horizontal_.num_taps(), 4,
                 width, result_);
  float* separate[4];
  for (int i = 0; i < 4; ++i)
    separate[i] = direct && i < count ? static_cast<float*>(rows[i]) : blended_ + i * row_size_;
  kernels.separate_float(result_, width, separate);
  for (int i = 0; i < count && !direct; ++i) round_row(separate[i], width, output_, rows[i]);
}

void ResamplePlan::make_fixed_rows(const ResampleImage& image, int64_t y, int count,
                                   void* const* rows) const {
  const ResampleKernels& kernels = resample_kernels();
  const int64_t columns = column_end() - column_begin();
  const int64_t width = output_width();
  const int taps = vertical_.num_taps();
  int16_t* blended[4];
  for (int i = 0; i < 4; ++i)
    blended[i] = reinterpret_cast<int16_t*>(blended_ + (i < count ? i : 0) * row_size_);
  for (int i = 0; i < count; ++i) {
    source_rows(image, y + i);
    kernels.blend_fixed(row_pointers_, vertical_fixed_ + (y + i) * taps, taps, columns * channels_,
                        blended[i]);
  }
  if (channels_ != 1) {
    kernels.gather_fixed(blended[0], horizontal_starts_, horizontal_fixed_, horizontal_.num_taps(),
                         channels_, width, static_cast<uint8_t*>(rows[0]));
    return;
  }
  int16_t* interleaved = reinterpret_cast<int16_t*>(interleaved_);
  uint8_t* result = reinterpret_cast<uint8_t*>(result_);
  kernels.interleave_int16(blended, columns, interleaved);
  kernels.gather_fixed(interleaved, horizontal_starts_, horizontal_fixed_, horizontal_.num_taps(),
                       4, width, result);
  uint8_t* separate[4];
  for (int i = 0; i < 4; ++i)
    separate[i] = i < count ? static_cast<uint8_t*>(rows[i])
                            : reinterpret_cast<uint8_t*>(blended_ + i * row_size_);
  kernels.separate_uint8(result, width, separate);
}

}  // namespace dali_core
