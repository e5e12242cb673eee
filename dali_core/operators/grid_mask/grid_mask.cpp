#include "dali_core/kernels/fill/grid_mask.hpp"

#include <cstring>
#include <utility>

#include "dali_core/geometry.hpp"
#include "dali_core/operator.hpp"

#define DC_SIMD_SOURCE "dali_core/kernels/fill/grid_mask_kernels.inc.hpp"
#include "dali_core/simd_each_level.hpp"

namespace dali_core {
namespace {

// The dimensions that the grid lies in, in the order of the data.
struct GridAxes {
  int outer;
  int inner;
  bool inner_is_x;
};

GridAxes grid_axes(const Tensor& image) {
  if (image.shape.ndim < 2)
    throw std::invalid_argument("the input must have at least two dimensions (got shape " +
                                to_string(image.shape) + "). Reshape it.");
  const bool is_sequence = image.layout.empty() && image.shape.ndim == 4;
  int y = image.layout.find('H');
  int x = image.layout.find('W');
  if (x < 0 || y < 0) {
    y = is_sequence ? 1 : 0;
    x = y + 1;
  }
  return x > y ? GridAxes{y, x, true} : GridAxes{x, y, false};
}

// Zeroes what the mask covers, in data of any type: zero is the same bytes for all of them.
class MaskedFill {
 public:
  MaskedFill(const Tensor& image, GridAxes axes, const uint8_t* mask)
      : shape_(image.shape), axes_(axes), mask_(mask) {
    const Strides strides = dense_strides(image.shape);
    for (int i = 0; i < shape_.ndim; ++i) bytes_[i] = strides[i] * size_of(image.type);
  }

  void fill(int dim, char* data, const uint8_t* row) const {
    if (dim >= axes_.inner) {
      fill_runs(data, row);
      return;
    }
    for (int64_t i = 0; i < shape_[dim]; ++i, data += bytes_[dim])
      fill(dim + 1, data, dim == axes_.outer ? mask_ + i * shape_[axes_.inner] : row);
  }

 private:
  void fill_runs(char* data, const uint8_t* row) const {
    const int64_t count = shape_[axes_.inner];
    const int64_t bytes = bytes_[axes_.inner];
    for (int64_t i = 0; i < count;) {
      const auto* first =
          static_cast<const uint8_t*>(std::memchr(row + i, 1, static_cast<size_t>(count - i)));
      if (!first) return;
      const int64_t start = first - row;
      for (i = start; i < count && row[i];) ++i;
      std::memset(data + start * bytes, 0, static_cast<size_t>((i - start) * bytes));
    }
  }

  Shape shape_;
  GridAxes axes_;
  const uint8_t* mask_;
  int64_t bytes_[kMaxDims] = {};
};

}  // namespace

class GridMask : public Operator {
 public:
  explicit GridMask(const OperatorConfig& config)
      : angle_(config, "angle"),
        ratio_(config, "ratio"),
        shift_x_(config, "shift_x"),
        shift_y_(config, "shift_y"),
        tile_(config, "tile") {}

  void run(SampleContext& sample) const override {
    const Tensor& image = sample.input(0);
    const GridAxes axes = grid_axes(image);
    const int64_t tile = tile_.at(sample);
    const Grid grid = make_grid(angle_.at(sample), shift_x_.at(sample), shift_y_.at(sample),
                                static_cast<float>(tile), ratio_.at(sample));
    if (!(grid.ratio > 0)) {
      sample.forward(0, image);
      return;
    }
    Tensor& output = sample.output(0, image.type, image.shape, image.layout);
    if (output.num_elements() == 0) return;
    const int64_t num_rows = image.shape[axes.outer];
    const int64_t row_length = image.shape[axes.inner];
    uint8_t* const mask = sample.scratch<uint8_t>(0, static_cast<size_t>(num_rows * row_length));
    for (int64_t i = 0; i < num_rows; ++i)
      DC_SIMD_DISPATCH(mask_row, mask + i * row_length, row_length, static_cast<float>(i),
                       axes.inner_is_x, grid);
    std::memcpy(output.data, image.data, static_cast<size_t>(image.num_bytes()));
    MaskedFill(image, axes, mask).fill(0, static_cast<char*>(output.data), mask);
  }

 private:
  Argument<float> angle_, ratio_, shift_x_, shift_y_;
  Argument<int64_t> tile_;
};

DALI_CORE_REGISTER_OPERATOR("grid_mask", GridMask)

}  // namespace dali_core
