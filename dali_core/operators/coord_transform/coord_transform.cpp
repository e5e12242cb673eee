#include "dali_core/kernels/warp/coord_transform.hpp"

#include <algorithm>
#include <limits>

#include "dali_core/frame_numbers.hpp"
#include "dali_core/kernels/convert/convert_elements.hpp"
#include "dali_core/simd.hpp"

namespace dali_core {
namespace {

// out = matrix * in + offset, with the matrix row by row.
struct PointTransform {
  int rows;
  int columns;
  const float* matrix;
  const float* offset;
};

}  // namespace
}  // namespace dali_core

#define DC_SIMD_SOURCE "dali_core/kernels/warp/coord_transform_kernels.inc.hpp"
#include "dali_core/simd_each_level.hpp"

namespace dali_core {

class CoordTransform : public Operator {
 public:
  explicit CoordTransform(const OperatorConfig& config)
      : matrix_(config, config.has("MT") ? "MT" : "M"),
        offset_(config, "T"),
        has_both_(config.has("MT")),
        type_(config.get<DataType>("dtype")) {}

  void run(SampleContext& sample) const override {
    const Tensor& input = sample.input(0);
    const bool is_sequence = is_per_frame(input);
    if (input.shape.ndim < 1 + is_sequence)
      throw std::invalid_argument(
          "the input must consist of points along its last dimension (got "
          "shape " +
          to_string(input.shape) + "). Reshape it.");
    const FrameNumbers::Values matrix = matrix_.at(sample), offset = offset_.at(sample);
    FrameCount frames;
    if (is_sequence) frames.add(input.shape[0], "the input");
    frames.add(matrix.num_frames(), matrix_.name());
    frames.add(offset.num_frames(), offset_.name());
    const int64_t columns = input.shape[input.shape.ndim - 1];
    const int64_t rows = num_rows(matrix, columns);
    check_offset(offset, rows);

    Shape shape = input.shape;
    shape[shape.ndim - 1] = rows;
    Layout layout = input.layout;
    if (is_sequence && shape[0] == 0) {
      sample.output(0, type_, shape, layout);
      return;
    }
    const bool repeats = frames.is_sequence() && (!is_sequence || input.shape[0] != frames.count());
    if (frames.is_sequence() && !is_sequence) {
      shape = Shape();
      shape.push_back(frames.count());
      for (int i = 0; i < input.shape.ndim; ++i) shape.push_back(input.shape[i]);
      shape[shape.ndim - 1] = rows;
      if (!layout.empty()) layout = Layout("F" + std::string(layout.c_str()));
    } else if (repeats) {
      shape[0] = frames.count();
    }
    Tensor& output = sample.output(0, type_, shape, layout);
    if (output.num_elements() == 0) return;

    const bool varies = matrix.num_frames() > 1 || offset.num_frames() > 1 || repeats;
    const int64_t steps = varies ? frames.count() : 1;
    const int64_t points = output.num_elements() / rows / steps;
    const int64_t block = std::clamp<int64_t>(4096 / (rows + columns), 1, points);
    // Scratch for the matrix and offset as well, which arguments give in different forms.
    float* const full = sample.scratch<float>(0, static_cast<size_t>(rows * (columns + 1)));
    float* const blocks = sample.scratch<float>(1, static_cast<size_t>(block * (rows + columns)));
    for (int64_t step = 0; step < steps; ++step) {
      write_matrix(matrix, step, rows, columns, full);
      write_offset(matrix, offset, step, rows, columns, full + rows * columns);
      const PointTransform transform{static_cast<int>(rows), static_cast<int>(columns), full,
                                     full + rows * columns};
      const char* from =
          input.as<char>() + (repeats ? 0 : step) * points * columns * size_of(input.type);
      char* to = output.as<char>() + step * points * rows * size_of(type_);
      DC_SIMD_DISPATCH(transform_run, transform, from, input.type, to, type_, points, block,
                       blocks);
    }
  }

 private:
  static bool is_scalar(const FrameNumbers::Values& matrix) {
    return matrix.count() == 1 && matrix.shape().ndim < 2;
  }

  int64_t num_rows(const FrameNumbers::Values& matrix, int64_t columns) const {
    if (!matrix_.given() || is_scalar(matrix)) return columns;
    const int64_t wanted = columns + has_both_;
    const Shape& shape = matrix.shape();
    const int64_t rows = shape.ndim == 2   ? shape[0]
                         : shape.ndim == 1 ? shape[0] / std::max<int64_t>(wanted, 1)
                                           : 0;
    const bool fits = shape.ndim == 2 ? shape[1] == wanted : rows * wanted == matrix.count();
    if (rows < 1 || !fits || rows > std::numeric_limits<int>::max())
      throw std::invalid_argument(matrix_.name() + " must have " + std::to_string(wanted) +
                                  " columns for points of " + std::to_string(columns) +
                                  " components (got shape " + to_string(shape) +
                                  "). Pass the matrix row by row, or one number for the diagonal.");
    return rows;
  }

  void check_offset(const FrameNumbers::Values& offset, int64_t rows) const {
    if (offset_.given() && offset.count() != 1 && offset.count() != rows)
      throw std::invalid_argument("T must have one number, or one for each of the " +
                                  std::to_string(rows) + " rows of the matrix (got shape " +
                                  to_string(offset.shape()) + "). Pass as many as there are rows.");
  }

  void write_matrix(const FrameNumbers::Values& matrix, int64_t frame, int64_t rows,
                    int64_t columns, float* out) const {
    const bool diagonal = !matrix_.given() || is_scalar(matrix);
    const float factor = matrix_.given() ? matrix.of(frame)[0] : 1.0f;
    const int64_t stride = columns + has_both_;
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t column = 0; column < columns; ++column)
        *out++ = !diagonal       ? matrix.of(frame)[row * stride + column]
                 : row == column ? factor
                                 : 0.0f;
  }

  void write_offset(const FrameNumbers::Values& matrix, const FrameNumbers::Values& offset,
                    int64_t frame, int64_t rows, int64_t columns, float* out) const {
    for (int64_t row = 0; row < rows; ++row) {
      if (offset_.given())
        out[row] = offset.of(frame)[offset.count() == 1 ? 0 : row];
      else if (has_both_ && !is_scalar(matrix))
        out[row] = matrix.of(frame)[row * (columns + 1) + columns];
      else
        out[row] = 0;
    }
  }

  FrameNumbers matrix_, offset_;
  bool has_both_;
  DataType type_;
};

DALI_CORE_REGISTER_OPERATOR("coord_transform", CoordTransform)

}  // namespace dali_core
