#include "dali_core/kernels/warp/coord_transform.hpp"

#include <algorithm>
#include <limits>

#include "dali_core/kernels/convert/convert_elements.hpp"
#include "dali_core/kernels/tasks/task_operator.hpp"
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

class CoordTransform : public TaskOperator<CoordTransform> {
 public:
  explicit CoordTransform(const OperatorConfig& config)
      : matrix_(config, config.has("MT") ? "MT" : "M"),
        offset_(config, "T"),
        has_both_(config.has("MT")),
        type_(config.get<DataType>("dtype")) {}

  // Steps are frames with a matrix of their own, or all points.
  struct Result : Inferred {
    int64_t rows = 0;
    int64_t columns = 0;
    int64_t steps = 1;
    bool repeats = false;        // all steps have the input's points
    std::vector<float> numbers;  // of each step: the matrix row by row, and the offset
  };

  struct Tasks : KernelTasks<PointsTask> {
    void launch(DeviceBatch& batch) const {
      KernelTasks<PointsTask>::launch(batch, "transform_points");
    }
  };

  Result infer(const SampleContext& sample) const {
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
    Result result;
    result.type = type_;
    result.columns = input.shape[input.shape.ndim - 1];
    result.rows = num_rows(matrix, result.columns);
    check_offset(offset, result.rows);

    result.shape = input.shape;
    result.layout = input.layout;
    result.shape[result.shape.ndim - 1] = result.rows;
    if (is_sequence && input.shape[0] == 0) return result;
    result.repeats = frames.is_sequence() && (!is_sequence || input.shape[0] != frames.count());
    if (frames.is_sequence() && !is_sequence) {
      result.shape = Shape();
      result.shape.push_back(frames.count());
      for (int i = 0; i < input.shape.ndim; ++i) result.shape.push_back(input.shape[i]);
      result.shape[result.shape.ndim - 1] = result.rows;
      if (!result.layout.empty()) result.layout = Layout("F" + std::string(result.layout.c_str()));
    } else if (result.repeats) {
      result.shape[0] = frames.count();
    }
    const bool varies = matrix.num_frames() > 1 || offset.num_frames() > 1 || result.repeats;
    if (varies) result.steps = frames.count();
    result.numbers.resize(static_cast<size_t>(result.steps * numbers_of_step(result)));
    for (int64_t step = 0; step < result.steps; ++step) {
      float* const numbers = result.numbers.data() + step * numbers_of_step(result);
      write_matrix(matrix, step, result.rows, result.columns, numbers);
      write_offset(matrix, offset, step, result.rows, result.columns,
                   numbers + result.rows * result.columns);
    }
    return result;
  }

  void run(SampleContext& sample) const override {
    const Result result = infer(sample);
    Tensor& output = *sample.output(result);
    if (output.num_elements() == 0) return;
    const int64_t points = output.num_elements() / result.rows / result.steps;
    const int64_t block = std::clamp<int64_t>(4096 / (result.rows + result.columns), 1, points);
    float* const blocks =
        sample.scratch<float>(0, static_cast<size_t>(block * (result.rows + result.columns)));
    TaskData data(sample, output);
    for (int64_t step = 0; step < result.steps; ++step) {
      const PointsTask task = task_of(result, step, data);
      const PointTransform transform{static_cast<int>(result.rows), task.columns, task.matrix,
                                     task.offset};
      DC_SIMD_DISPATCH(transform_run, transform, task.in, task.from, task.out, task.to, points,
                       block, blocks);
    }
  }

  static void add(const Result& result, TaskData& data, Tasks& tasks) {
    for (int64_t step = 0; step < result.steps; ++step) {
      const PointsTask task = task_of(result, step, data);
      tasks.add(task, task.count);
    }
  }

 private:
  static int64_t numbers_of_step(const Result& result) {
    return result.rows * (result.columns + 1);
  }

  static PointsTask task_of(const Result& result, int64_t step, TaskData& data) {
    const Tensor input = data.input();
    const Tensor& output = data.output();
    const int64_t count = output.num_elements() / result.steps;
    const int64_t points = count / result.rows;
    const int64_t first = (result.repeats ? 0 : step) * points * result.columns;
    const float* const numbers = data.array(result.numbers) + step * numbers_of_step(result);
    return {element_at(std::as_const(input).data, input.type, first),
            element_at(output.data, output.type, step * count),
            input.type,
            output.type,
            count,
            quick_divisor(result.rows),
            static_cast<int>(result.columns),
            numbers,
            numbers + result.rows * result.columns};
  }

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
