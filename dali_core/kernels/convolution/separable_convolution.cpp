#include <algorithm>
#include <vector>

#include "dali_core/kernels/convolution/convolution.hpp"
#include "dali_core/kernels/convolution/convolution_kernels.hpp"

namespace dali_core {
namespace {

// Rows that are needed at a time should stay in a near cache. Tiles are made of whole blocks of the
// kernels, and narrower ones would spend too much on their borders.
constexpr int64_t kNumbersInCache = 100000;
constexpr int64_t kTileStep = 128;

int64_t radius(const std::vector<float>& window) { return static_cast<int64_t>(window.size()) / 2; }

// One plane (or volume). Slices are summed along the depth first. The rest goes tile by tile, row
// by row, along the width first; rows that the height's windows need are kept in a ring for each
// window.
class SeparableConvolution {
 public:
  SeparableConvolution(SampleContext& sample, const ConvolvedPlane& plane, const DataAxes& axes,
                       const std::vector<SeparableWindow>& windows)
      : kernels_(convolution_kernels()),
        plane_(plane),
        windows_(windows),
        depth_(axes.extents[0]),
        height_(axes.extents[1]),
        width_(axes.extents[2]),
        channels_(axes.channels),
        row_(width_ * channels_) {
    for (const SeparableWindow& window : windows) {
      radius_y_ = std::max(radius_y_, radius(window.along[1]));
      radius_x_ = std::max(radius_x_, radius(window.along[2]));
      sums_slices_ |= window.along[0].size() > 1;
    }
    const int64_t num_windows = static_cast<int64_t>(windows.size());
    ring_ = std::min(height_, 2 * radius_y_ + 2);
    const int64_t pixels =
        kNumbersInCache / (ring_ * num_windows * std::max<int64_t>(1, channels_));
    tile_ = std::min(width_, std::max(kTileStep, pixels / kTileStep * kTileStep));
    const int64_t pad = radius_x_ * channels_;
    line_ = sample.scratch<float>(0, tile_ * channels_ + 2 * pad) + pad;
    rings_ = sample.scratch<float>(1, num_windows * ring_ * tile_ * channels_);
    sum_ = sample.scratch<float>(2, 2 * tile_ * channels_);
    if (sums_slices_) slices_ = sample.scratch<float>(3, num_windows * height_ * row_);
  }

  void run() {
    for (int64_t z = 0; z < depth_; ++z) {
      if (sums_slices_) sum_slices(z);
      for (int64_t x = 0; x < width_; x += tile_) run_tile(z, x, std::min(tile_, width_ - x));
    }
  }

 private:
  // Whether a window has the depth's weights of the one before it, so that its input is the same.
  bool shares_input(size_t window) const {
    return window > 0 && windows_[window].along[0] == windows_[window - 1].along[0];
  }

  void sum_slices(int64_t z) {
    const int64_t slice = height_ * row_;
    const uint8_t* in = static_cast<const uint8_t*>(plane_.input);
    for (size_t i = 0; i < windows_.size(); ++i) {
      if (shares_input(i)) continue;
      const std::vector<float>& along_z = windows_[i].along[0];
      inputs_.clear();
      for (size_t k = 0; k < along_z.size(); ++k) {
        const int64_t place = z + static_cast<int64_t>(k) - radius(along_z);
        inputs_.push_back(in + border_place(Border::kReflect101, place, depth_) * slice *
                                   size_of(plane_.input_type));
      }
      kernels_.weigh_typed_rows(inputs_.data(), plane_.input_type, along_z.data(), along_z.size(),
                                slice, slices_ + static_cast<int64_t>(i) * slice);
    }
  }

  void run_tile(int64_t z, int64_t x, int64_t width) {
    const int64_t output_size = size_of(plane_.output_type);
    uint8_t* out =
        static_cast<uint8_t*>(plane_.output) + (z * height_ * row_ + x * channels_) * output_size;
    int64_t next = 0;
    // Two rows at a time share most rows of the ring.
    const bool in_pairs = windows_.size() == 1;
    for (int64_t y = 0; y < height_;) {
      const int64_t num_rows = in_pairs && y + 1 < height_ ? 2 : 1;
      for (; next < std::min(height_, y + radius_y_ + num_rows); ++next)
        fill_rings(z, next, x, width);
      write_rows(y, num_rows, width * channels_, out);
      y += num_rows;
      out += num_rows * row_ * output_size;
    }
  }

  float* ring_row(size_t window, int64_t y) {
    return rings_ + (static_cast<int64_t>(window) * ring_ + y % ring_) * tile_ * channels_;
  }

  void fill_rings(int64_t z, int64_t y, int64_t x, int64_t width) {
    for (size_t i = 0; i < windows_.size(); ++i) {
      if (!shares_input(i)) fill_line(i, z, y, x, width);
      const std::vector<float>& along_x = windows_[i].along[2];
      rows_.clear();
      for (size_t k = 0; k < along_x.size(); ++k)
        rows_.push_back(line_ + (static_cast<int64_t>(k) - radius(along_x)) * channels_);
      kernels_.weigh_rows(rows_.data(), along_x.data(), rows_.size(), width * channels_,
                          ring_row(i, y));
    }
  }

  // Fills the line with a row's part in the tile and with what lies on both sides of it.
  void fill_line(size_t window, int64_t z, int64_t y, int64_t x, int64_t width) {
    const int64_t first = std::max<int64_t>(0, x - radius_x_);
    const int64_t end = std::min(width_, x + width + radius_x_);
    const int64_t count = (end - first) * channels_;
    const auto pixel = [&](int64_t place) { return line_ + (place - x) * channels_; };
    float* to = pixel(first);
    if (sums_slices_) {
      const int64_t slice = static_cast<int64_t>(window) * height_;
      std::copy_n(slices_ + (slice + y) * row_ + first * channels_, count, to);
    } else {
      const int64_t from = (z * height_ + y) * row_ + first * channels_;
      kernels_.load_row(
          static_cast<const uint8_t*>(plane_.input) + from * size_of(plane_.input_type),
          plane_.input_type, count, to);
    }
    // The mirror image is in the line, too: it reaches as far beyond the tile as the window.
    const auto mirror = [&](int64_t outside) {
      const int64_t inside = border_place(Border::kReflect101, outside, width_);
      std::copy_n(pixel(inside), channels_, pixel(outside));
    };
    for (int64_t outside = x - radius_x_; outside < 0; ++outside) mirror(outside);
    for (int64_t outside = width_; outside < x + width + radius_x_; ++outside) mirror(outside);
  }

  void write_rows(int64_t y, int64_t num_rows, int64_t count, uint8_t* out) {
    rows_.clear();
    weights_.clear();
    for (size_t i = 0; i < windows_.size(); ++i) {
      const std::vector<float>& along_y = windows_[i].along[1];
      weights_.insert(weights_.end(), along_y.begin(), along_y.end());
      const int64_t first = y - radius(along_y);
      for (int64_t place = first; place < y + radius(along_y) + num_rows; ++place)
        rows_.push_back(ring_row(i, border_place(Border::kReflect101, place, height_)));
    }
    const bool direct = plane_.output_type == DataType::kFloat;
    const int64_t next_row = row_ * size_of(plane_.output_type);
    float* sum = direct ? reinterpret_cast<float*>(out) : sum_;
    float* next_sum = direct ? reinterpret_cast<float*>(out + next_row) : sum_ + count;
    if (num_rows == 2)
      kernels_.weigh_rows_twice(rows_.data(), weights_.data(), weights_.size(), 1, count, sum,
                                next_sum);
    else
      kernels_.weigh_rows(rows_.data(), weights_.data(), weights_.size(), count, sum);
    for (int64_t i = 0; i < num_rows && !direct; ++i)
      kernels_.store_row(i == 0 ? sum : next_sum, count, out + i * next_row, plane_.output_type);
  }

  const ConvolutionKernels& kernels_;
  const ConvolvedPlane& plane_;
  const std::vector<SeparableWindow>& windows_;
  int64_t depth_, height_, width_, channels_;
  int64_t row_;  // numbers in a row
  int64_t radius_y_ = 0, radius_x_ = 0;
  int64_t ring_;  // rows in a ring
  int64_t tile_;  // pixels
  bool sums_slices_ = false;
  float *line_, *rings_, *sum_;
  float* slices_ = nullptr;  // the sums of slices, one for each window
  std::vector<const float*> rows_;
  std::vector<const void*> inputs_;
  std::vector<float> weights_;
};

}  // namespace

void convolve_separable(SampleContext& sample, const ConvolvedPlane& plane, const DataAxes& axes,
                        const std::vector<SeparableWindow>& windows) {
  if (axes.plane_size() > 0) SeparableConvolution(sample, plane, axes, windows).run();
}

}  // namespace dali_core
