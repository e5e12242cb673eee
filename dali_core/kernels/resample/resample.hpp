// Separable resampling of an image region, row by row.
//
//   ResamplePlan plan(rows, columns, channels, DataType::kUInt8, DataType::kUInt8);
//   plan.bind(sample.scratch<char>(0, plan.scratch_bytes()));
//   resample<uint8_t>(plan, image, writer);
//
// A plan says which input rows and columns it will read, so a decoder can stop at them. Finished
// rows go to a writer, hot in the cache: one that normalises makes a fused operator. For
// `uint8` to `uint8` the sums are in 16-bit fixed point, otherwise in float; both have a fixed
// order, so every instruction set gives the same bits.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "dali_core/convert.hpp"
#include "dali_core/kernels/resample/resample_filter.hpp"
#include "dali_core/kernels/resample/resample_kernels.hpp"
#include "dali_core/kernels/resample/tap_rule.hpp"
#include "dali_core/types.hpp"

namespace dali_core {

// What is wanted along one axis.
struct ResampleAxis {
  int64_t input_size = 0;
  int64_t output_size = 0;
  float begin = 0;  // region of interest, in input pixels; end < begin mirrors
  float end = 0;
  ResampleFilter filter = ResampleFilter::kLinear;
  bool antialias = true;
  // Drop what a filter finds outside of the input instead of taking the edge pixel for it.
  bool exclude_outside = false;
  int64_t first_output = 0;  // only outputs [first_output, first_output + num_outputs) are made
  int64_t num_outputs = -1;  // -1: up to the end
  bool reverse = false;      // give the outputs that are made in reverse order
  // Find the nearest pixel by adding up steps instead of multiplying. NVIDIA DALI does so for all
  // axes but the width, and where an output lies exactly between two pixels it shows.
  bool running = false;

  ResampleAxis() = default;
  ResampleAxis(int64_t input, int64_t output, ResampleFilter wanted)
      : input_size(input), output_size(output), end(static_cast<float>(input)), filter(wanted) {}

  // How many outputs are made.
  int64_t made() const {
    return num_outputs >= 0 ? num_outputs : std::max<int64_t>(output_size - first_output, 0);
  }

  // Whether the output is the input: nothing moves, and no filter blurs.
  bool is_identity() const {
    return output_size == input_size && made() == output_size && first_output == 0 && !reverse &&
           begin == 0 && end == static_cast<float>(input_size) &&
           filter != ResampleFilter::kGaussian;
  }
};

inline ResampleAxis running(ResampleAxis axis) {
  axis.running = true;
  return axis;
}

// The contribution of input pixels to each output pixel of one axis.
class AxisTaps {
 public:
  explicit AxisTaps(const ResampleAxis& axis);

  int64_t num_outputs() const { return rule_.num_outputs; }
  int num_taps() const { return rule_.num_taps; }
  int64_t source_begin() const { return source_begin_; }
  int64_t source_end() const { return source_end_; }
  bool is_copy() const { return rule_.num_taps == 1; }
  // What a kernel fills in taps by; its curved filters have samples.
  const TapRule& rule() const { return rule_; }

  // Fills `starts[num_outputs]` and `weights[num_outputs][num_taps]`: output i is the sum over k of
  // weights[i][k] * input[starts[i] + k]. Starts are positions in the whole input.
  void fill(int32_t* starts, float* weights) const;

 private:
  template <typename Filter>
  void fill_by(const Filter& filter, int32_t* starts, float* weights) const;
  void fill_nearest(int32_t* starts) const;

  TapRule rule_{};
  int64_t source_begin_ = 0, source_end_ = 0;
};

// The samples of a curved filter, which never change; null for others.
const double* filter_samples(ResampleFilter filter);

// How images are resampled.
ResampleArithmetic choose_arithmetic(const AxisTaps& rows, const AxisTaps& columns, DataType input,
                                     DataType output);

// Input pixels. `data` is where pixel (first_row, first_column) lies: of a partly decoded image,
// only what the plan asks for needs to be there.
struct ResampleImage {
  const void* data = nullptr;
  int64_t row_stride = 0;  // in bytes
  int64_t first_row = 0;
  int64_t first_column = 0;
};

class ResamplePlan {
 public:
  ResamplePlan(const ResampleAxis& rows, const ResampleAxis& columns, int channels, DataType input,
               DataType output);

  // Input rows and columns that will be read.
  int64_t row_begin() const { return vertical_.source_begin(); }
  int64_t row_end() const { return vertical_.source_end(); }
  int64_t column_begin() const { return horizontal_.source_begin(); }
  int64_t column_end() const { return horizontal_.source_end(); }
  int64_t output_height() const { return vertical_.num_outputs(); }
  int64_t output_width() const { return horizontal_.num_outputs(); }
  int channels() const { return channels_; }

  // Memory that `bind` carves up; it must be aligned to 64 bytes and outlive the calls of
  // `resample`.
  size_t scratch_bytes() const { return scratch_bytes_; }
  void bind(void* scratch);

  // Makes output rows [y, y + count), where count is at most `rows_at_once()`, at rows[0..count).
  int rows_at_once() const { return channels_ == 1 && !gather_ ? 4 : 1; }
  void make_rows(const ResampleImage& image, int64_t y, int count, void* const* rows) const;

 private:
  void make_float_rows(const ResampleImage& image, int64_t y, int count, void* const* rows) const;
  void make_fixed_rows(const ResampleImage& image, int64_t y, int count, void* const* rows) const;
  void copy_row(const ResampleImage& image, int64_t y, void* row) const;
  void source_rows(const ResampleImage& image, int64_t y) const;
  size_t carve(char* block);

  AxisTaps vertical_, horizontal_;
  int channels_;
  DataType input_, output_;
  bool gather_;            // every output pixel is one input pixel: any type is exact
  bool fixed_;             // uint8 to uint8
  bool native_;            // the kernels read the input type, or it is converted row by row
  bool in_order_ = false;  // a row of the output is one piece of a row of the input
  size_t scratch_bytes_ = 0;

  int64_t row_size_ = 0;  // of `blended_`, in floats

  // Memory from `bind`.
  int32_t* vertical_starts_ = nullptr;
  int32_t* horizontal_starts_ = nullptr;  // in elements of a row that starts at column_begin()
  float* vertical_weights_ = nullptr;
  float* horizontal_weights_ = nullptr;
  int16_t* vertical_fixed_ = nullptr;
  int16_t* horizontal_rounded_ = nullptr;
  int16_t* horizontal_fixed_ = nullptr;
  const void** row_pointers_ = nullptr;
  float* blended_ = nullptr;      // rows after the vertical pass
  float* interleaved_ = nullptr;  // four of them, of one channel, as one row of four channels
  float* result_ = nullptr;       // a row after the horizontal pass
  float* converted_ = nullptr;    // input rows of types that the kernels do not read
};

// Resamples into `writer`, which has
//   T* row(int64_t y)          where to put row y of the output (width * channels elements), and
//   void done(int64_t y, T*)   called in order of y once that row is complete.
// Up to `rows_at_once()` rows are asked for before the first of them is done.
template <typename T, typename Writer>
void resample(const ResamplePlan& plan, const ResampleImage& image, Writer&& writer) {
  const int64_t height = plan.output_height();
  const int at_once = plan.rows_at_once();
  for (int64_t y = 0; y < height; y += at_once) {
    const int count = static_cast<int>(std::min<int64_t>(at_once, height - y));
    T* rows[4];
    void* targets[4];
    for (int i = 0; i < count; ++i) targets[i] = rows[i] = writer.row(y + i);
    plan.make_rows(image, y, count, targets);
    for (int i = 0; i < count; ++i) writer.done(y + i, rows[i]);
  }
}

// Writes rows into an image in memory.
template <typename T>
struct RowsInMemory {
  T* data;
  int64_t stride;  // in elements

  T* row(int64_t y) const { return data + y * stride; }
  void done(int64_t, T*) const {}
};

}  // namespace dali_core
