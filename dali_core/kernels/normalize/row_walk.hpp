// Walks over all rows of the output of fn.crop_mirror_normalize, and normalises or fills each.
#pragma once

#include <cstdint>

#include "dali_core/geometry.hpp"
#include "dali_core/kernels/normalize/normalize_row.hpp"
#include "dali_core/kernels/window/crop_window.hpp"
#include "dali_core/tensor.hpp"

namespace dali_core {

class RowWalk {
 public:
  // `input_axis` maps each dimension of the output to one of the input; `fill_of_channel` has a
  // value for each channel of the output. Sets the pixel strides of `row`; the rest of it must be
  // set before run().
  RowWalk(const Tensor& image, const Window& window, const int* input_axis, const ImageAxes& axes,
          bool mirror, NormalizeRow& row, const float* fill_of_channel, Tensor& output);

  // Pixels of a row that show the image.
  int64_t max_pixels() const { return last_ - first_; }

  void run() const { walk(0, 0, 0, true); }

  // Of an image with one dimension beside columns and channels: makes row `y` from the pixels of a
  // row that is somewhere else in memory.
  void run_row(const void* row, int64_t y) const {
    process(static_cast<const uint8_t*>(row), y * outer_[0].output_stride);
  }

 private:
  struct Dimension {
    int64_t start, extent, image_extent, input_stride, output_stride;
  };

  // `in` and `out` count elements from the start of the tensors.
  void walk(int level, int64_t in, int64_t out, bool inside) const;
  // `in` is where the first column of the image lies.
  void process(const uint8_t* in, int64_t out) const;
  // Fills columns [begin, end) of the channels from `channel` on.
  void fill(int64_t out, int64_t begin, int64_t end, int64_t channel) const;

  const NormalizeRow& row_;
  const float* fill_;
  const uint8_t* input_;
  uint8_t* output_;
  DataType output_type_;
  Dimension columns_{};
  Dimension outer_[kMaxDims];
  int num_outer_ = 0;
  int64_t first_, last_;  // the output's columns that show the image; padding is beside them
  int64_t source_;        // column of the image that lands on `first_`
};

}  // namespace dali_core
