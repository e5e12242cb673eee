#include <algorithm>
#include <vector>

#include "dali_core/kernels/convolution/convolution.hpp"
#include "dali_core/kernels/convolution/convolution_kernels.hpp"

namespace dali_core {
namespace {

// One plane (or volume): row by row. The rows that the window covers are kept in rings, one for
// each of the window's slices, converted and with their borders in place.
class GeneralConvolution {
 public:
  GeneralConvolution(SampleContext& sample, const ConvolvedPlane& plane, const DataAxes& axes,
                     const GeneralWindow& window)
      : kernels_(convolution_kernels()),
        plane_(plane),
        window_(window),
        channels_(axes.channels),
        input_row_(axes.extents[2] * axes.channels) {
    for (int i = 0; i < 3; ++i) {
      input_[i] = axes.extents[i];
      output_[i] = window.valid ? input_[i] - window.extents[i] + 1 : input_[i];
      anchor_[i] = window.valid ? 0 : window.anchor[i];
    }
    output_row_ = output_[2] * channels_;
    line_ = output_row_ + (window.extents[2] - 1) * channels_;
    ring_ = window.extents[1] + 1;
    rings_ = sample.scratch<float>(0, window.extents[0] * ring_ * line_);
    sum_ = sample.scratch<float>(1, 2 * output_row_);
    const int64_t size = window.extents[0] * window.extents[1] * window.extents[2];
    for (int64_t k = 0; k < size; ++k)
      if (window.weights[k] != 0) weights_.push_back(window.weights[k]);
    in_pairs_ = window.extents[0] == 1 && static_cast<int64_t>(weights_.size()) == size;
  }

  void run() {
    uint8_t* out = static_cast<uint8_t*>(plane_.output);
    const int64_t row_bytes = output_row_ * size_of(plane_.output_type);
    for (int64_t z = 0; z < output_[0]; ++z) {
      int64_t next = 0;
      for (int64_t y = 0; y < output_[1];) {
        const int64_t num_rows = in_pairs_ && y + 1 < output_[1] ? 2 : 1;
        for (; next < y + window_.extents[1] + num_rows - 1; ++next)
          for (int64_t k = 0; k < window_.extents[0]; ++k)
            fill_line(z + k, next, ring_row(k, next));
        write_rows(y, num_rows, out);
        y += num_rows;
        out += num_rows * row_bytes;
      }
    }
  }

 private:
  float* ring_row(int64_t slice, int64_t y) { return rings_ + (slice * ring_ + y % ring_) * line_; }

  // Slices and rows are counted from the first one that the window covers at the first pixel.
  void fill_line(int64_t slice, int64_t row, float* line) {
    int64_t z = slice - anchor_[0];
    int64_t y = row - anchor_[1];
    const bool is_inside = z >= 0 && z < input_[0] && y >= 0 && y < input_[1];
    const bool is_constant = window_.border == Border::kConstant;
    if (!is_inside && is_constant) {
      std::fill_n(line, line_, window_.fill_value);
      return;
    }
    z = border_place(window_.border, z, input_[0]);
    y = border_place(window_.border, y, input_[1]);
    const int64_t first = anchor_[2];
    float* image = line + first * channels_;
    const uint8_t* in = static_cast<const uint8_t*>(plane_.input);
    kernels_.load_row(in + (z * input_[1] + y) * input_row_ * size_of(plane_.input_type),
                      plane_.input_type, input_row_, image);
    const auto fill_pixel = [&](int64_t x) {
      if (is_constant)
        std::fill_n(image + x * channels_, channels_, window_.fill_value);
      else
        std::copy_n(image + border_place(window_.border, x, input_[2]) * channels_, channels_,
                    image + x * channels_);
    };
    for (int64_t x = -first; x < 0; ++x) fill_pixel(x);
    for (int64_t x = input_[2]; x < line_ / channels_ - first; ++x) fill_pixel(x);
  }

  void write_rows(int64_t y, int64_t num_rows, uint8_t* out) {
    const float* weight = window_.weights;
    rows_.clear();
    for (int64_t z = 0; z < window_.extents[0]; ++z)
      for (int64_t k = 0; k < window_.extents[1] + num_rows - 1; ++k) {
        const float* line = ring_row(z, y + k);
        for (int64_t x = 0; x < window_.extents[2]; ++x)
          if (in_pairs_ || *weight++ != 0) rows_.push_back(line + x * channels_);
      }
    const bool direct = plane_.output_type == DataType::kFloat;
    const int64_t next_row = output_row_ * size_of(plane_.output_type);
    float* sum = direct ? reinterpret_cast<float*>(out) : sum_;
    float* next_sum = direct ? reinterpret_cast<float*>(out + next_row) : sum_ + output_row_;
    const int64_t size = static_cast<int64_t>(weights_.size());
    if (num_rows == 2)
      kernels_.weigh_rows_twice(rows_.data(), weights_.data(), size, window_.extents[2],
                                output_row_, sum, next_sum);
    else
      kernels_.weigh_rows(rows_.data(), weights_.data(), size, output_row_, sum);
    for (int64_t i = 0; i < num_rows && !direct; ++i)
      kernels_.store_row_to_even(i == 0 ? sum : next_sum, output_row_, out + i * next_row,
                                 plane_.output_type);
  }

  const ConvolutionKernels& kernels_;
  const ConvolvedPlane& plane_;
  const GeneralWindow& window_;
  int64_t input_[3], output_[3], anchor_[3];
  int64_t channels_, input_row_, output_row_;
  int64_t line_;   // numbers of a row with its borders
  int64_t ring_;   // rows in a ring: one more than the window has, as two are written at a time
  bool in_pairs_;  // which needs all weights to count, and the window's rows to follow each other
  float *rings_, *sum_;
  std::vector<const float*> rows_;
  std::vector<float> weights_;  // those that are not zero
};

}  // namespace

void convolve_general(SampleContext& sample, const ConvolvedPlane& plane, const DataAxes& axes,
                      const GeneralWindow& window) {
  if (axes.plane_size() > 0) GeneralConvolution(sample, plane, axes, window).run();
}

}  // namespace dali_core
