#include "dali_core/kernels/transpose/transpose.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "dali_core/kernels/gather/device_gather.hpp"
#include "dali_core/kernels/tasks/task_operator.hpp"
#include "dali_core/kernels/transpose/transpose_tasks.hpp"

namespace dali_core {
namespace {

constexpr int64_t kTile = 32;  // rows and columns whose cache lines are in use at a time

template <int num_bytes>
struct Run {
  uint8_t bytes[num_bytes];
};

// Moves runs, dimension by dimension, down to the plane of the two dimensions whose neighbours are
// contiguous: one in the output (its last), the other in the input.
class RunMove {
 public:
  RunMove(const Transposition& plan, int64_t element_bytes) : dims_(plan.dims) {
    run_bytes_ = plan.run * element_bytes;
    for (int i = 0; i < dims_.ndim; ++i) {
      if (dims_.input_stride[i] == plan.run) plane_ = i;
      dims_.input_stride[i] *= element_bytes;
      dims_.output_stride[i] *= element_bytes;
    }
  }

  void run(const uint8_t* in, uint8_t* out) const {
    switch (run_bytes_) {
      case 1:
        return move<1>(in, out);
      case 2:
        return move<2>(in, out);
      case 3:
        return move<3>(in, out);
      case 4:
        return move<4>(in, out);
      case 6:
        return move<6>(in, out);
      case 8:
        return move<8>(in, out);
      case 12:
        return move<12>(in, out);
      case 16:
        return move<16>(in, out);
      default:
        return move_long(0, in, out);
    }
  }

 private:
  void move_long(int dim, const uint8_t* in, uint8_t* out) const {
    if (dim == dims_.ndim) {
      std::memcpy(out, in, static_cast<size_t>(run_bytes_));
      return;
    }
    for (int64_t i = 0; i < dims_.extent[dim]; ++i)
      move_long(dim + 1, in + i * dims_.input_stride[dim], out + i * dims_.output_stride[dim]);
  }

  template <int num_bytes>
  void move(const uint8_t* in, uint8_t* out) const {
    if (plane_ < 0) return move_long(0, in, out);
    move_planes<num_bytes>(0, in, out);
  }

  template <int num_bytes>
  void move_planes(int dim, const uint8_t* in, uint8_t* out) const {
    if (dim == plane_) return move_planes<num_bytes>(dim + 1, in, out);
    if (dim < dims_.ndim - 1) {
      for (int64_t i = 0; i < dims_.extent[dim]; ++i)
        move_planes<num_bytes>(dim + 1, in + i * dims_.input_stride[dim],
                               out + i * dims_.output_stride[dim]);
      return;
    }
    const int64_t rows = dims_.extent[plane_];
    if (rows == 2) return move_narrow<num_bytes, 2>(in, out);
    if (rows == 3) return move_narrow<num_bytes, 3>(in, out);
    if (rows == 4) return move_narrow<num_bytes, 4>(in, out);
    const int64_t columns = dims_.extent[dim];
    if (columns == 2) return move_short<num_bytes, 2>(in, out);
    if (columns == 3) return move_short<num_bytes, 3>(in, out);
    if (columns == 4) return move_short<num_bytes, 4>(in, out);
    for (int64_t row = 0; row < rows; row += kTile)
      for (int64_t column = 0; column < columns; column += kTile)
        move_tile<num_bytes>(row, std::min(row + kTile, rows), column,
                             std::min(column + kTile, columns), in, out);
  }

  // `row` counts along the dimension whose neighbours are contiguous in the input.
  template <int num_bytes>
  void move_tile(int64_t row, int64_t end_row, int64_t column, int64_t end_column,
                 const uint8_t* in, uint8_t* out) const {
    using Moved = Run<num_bytes>;
    const int64_t input_stride = dims_.input_stride[dims_.ndim - 1];
    const int64_t output_stride = dims_.output_stride[plane_];
    for (int64_t y = row; y < end_row; ++y) {
      const uint8_t* source = in + y * num_bytes;
      Moved* target = reinterpret_cast<Moved*>(out + y * output_stride);
      for (int64_t x = column; x < end_column; ++x)
        std::memcpy(&target[x], source + x * input_stride, num_bytes);
    }
  }

  // Pixels of few channels become planes: one pass over the input.
  template <int num_bytes, int num_rows>
  void move_narrow(const uint8_t* in, uint8_t* out) const {
    const int64_t columns = dims_.extent[dims_.ndim - 1];
    const int64_t input_stride = dims_.input_stride[dims_.ndim - 1];
    const int64_t output_stride = dims_.output_stride[plane_];
    for (int64_t x = 0; x < columns; ++x)
      for (int y = 0; y < num_rows; ++y)
        std::memcpy(out + y * output_stride + x * num_bytes, in + x * input_stride + y * num_bytes,
                    num_bytes);
  }

  // Few planes become pixels: one pass over the output.
  template <int num_bytes, int num_columns>
  void move_short(const uint8_t* in, uint8_t* out) const {
    const int64_t rows = dims_.extent[plane_];
    const int64_t input_stride = dims_.input_stride[dims_.ndim - 1];
    const int64_t output_stride = dims_.output_stride[plane_];
    for (int64_t y = 0; y < rows; ++y)
      for (int x = 0; x < num_columns; ++x)
        std::memcpy(out + y * output_stride + x * num_bytes, in + x * input_stride + y * num_bytes,
                    num_bytes);
  }

  TransposedDims dims_;
  int64_t run_bytes_ = 1;
  int plane_ = -1;  // the dimension whose neighbours are contiguous in the input
};

constexpr int64_t kLeastSide = 8;  // of a plane that goes through tiles

// Powers of two, and three of 1, 2 or 4.
bool is_unit(int64_t bytes) {
  return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8 || bytes == 16 || bytes == 3 ||
         bytes == 6 || bytes == 12;
}

// The dimension of the output along which units are neighbours in the input, or -1.
int plane_dim(const Transposition& plan) {
  for (int i = 0; i < plan.dims.ndim - 1; ++i)
    if (plan.dims.input_stride[i] == plan.run) return i;
  return -1;
}

// False if units or addresses do not fit.
bool describe_planes(const Transposition& plan, int64_t element_bytes, const void* in, void* out,
                     PlaneTask& task) {
  const TransposedDims& dims = plan.dims;
  const int last = dims.ndim - 1;
  const int rows = plane_dim(plan);
  const int64_t unit = plan.run * element_bytes;
  const auto both = reinterpret_cast<uintptr_t>(in) | reinterpret_cast<uintptr_t>(out);
  const auto alignment = static_cast<uintptr_t>(unit & -unit);
  if (rows < 0 || !is_unit(unit) || both % alignment != 0) return false;
  task = PlaneTask{};
  task.in = in;
  task.out = out;
  task.unit_bytes = static_cast<int>(unit);
  task.rows = dims.extent[rows];
  task.columns = dims.extent[last];
  task.input_stride = dims.input_stride[last] * element_bytes;
  task.output_stride = dims.output_stride[rows] * element_bytes;
  task.planes = 1;
  for (int i = 0; i < last; ++i) {
    if (i == rows) continue;
    if (task.num_dims == kMaxPlaneDims) return false;
    task.planes *= dims.extent[i];
    task.extents[task.num_dims] = quick_divisor(dims.extent[i]);
    task.input_strides[task.num_dims] = dims.input_stride[i] * element_bytes;
    task.output_strides[task.num_dims++] = dims.output_stride[i] * element_bytes;
  }
  return true;
}

bool is_short(int64_t side) { return side >= 2 && side <= 4; }

// Whether one side of the planes is that of pixels, which are next to each other.
bool has_pixels(const PlaneTask& task) {
  if (task.unit_bytes > 4 || task.unit_bytes == 3) return false;
  const bool into_planes = is_short(task.rows) && task.input_stride == task.rows * task.unit_bytes;
  const bool into_pixels =
      is_short(task.columns) && task.output_stride == task.columns * task.unit_bytes;
  return into_planes || into_pixels;
}

Gather gather_of(const Transposition& plan, int64_t element_bytes, const void* in, void* out) {
  Gather gather;
  gather.in = in;
  gather.out = out;
  gather.element_bytes = element_bytes;
  for (int i = 0; i < plan.dims.ndim; ++i) {
    gather.extents.push_back(plan.dims.extent[i]);
    gather.strides[i] = plan.dims.input_stride[i] * element_bytes;
  }
  if (plan.run > 1) {
    gather.extents.push_back(plan.run);
    gather.strides[gather.extents.ndim - 1] = element_bytes;
  }
  return gather;
}

}  // namespace

// Nothing moves if there is nothing to move, or if everything stays in order.
struct Transposed : Inferred {
  Transposition plan;
};

class Transpose : public TaskOperator<Transpose> {
 public:
  explicit Transpose(const OperatorConfig& config)
      : reversed_(!config.has("perm")),
        transpose_layout_(config.get<bool>("transpose_layout")),
        set_layout_(config.has("output_layout")),
        order_(config.get_or<std::vector<int>>("perm", {})),
        layout_(config.get_or<std::string>("output_layout", "")) {
    bool found[kMaxDims] = {};
    const int ndim = static_cast<int>(order_.size());
    for (int dim : order_) {
      if (ndim > kMaxDims || dim < 0 || dim >= ndim || found[dim])
        throw std::invalid_argument("perm must have each number from 0 to " +
                                    std::to_string(ndim - 1) + " once, at most 8 of them (got " +
                                    order_text() + "). List every dimension of the input once.");
      found[dim] = true;
    }
    if (set_layout_ && layout_.empty())
      throw std::invalid_argument(
          "output_layout must have one letter a dimension (got \"\"). Leave it out, or pass "
          "transpose_layout=False to keep the input's.");
  }

  Transposed infer(const SampleContext& sample) const {
    const Tensor& input = sample.input(0);
    const int ndim = input.shape.ndim;
    if (!reversed_ && static_cast<int>(order_.size()) != ndim)
      throw std::invalid_argument("perm must have one number for each of the " +
                                  std::to_string(ndim) + " dimensions of the input (got " +
                                  order_text() + "). List every dimension once.");
    int order[kMaxDims] = {};
    Transposed result;
    for (int i = 0; i < ndim; ++i) {
      order[i] = reversed_ ? ndim - 1 - i : order_[i];
      result.shape.push_back(input.shape[order[i]]);
    }
    result.layout = output_layout(input, order);
    result.plan = plan_transposition(input.shape, order);
    result.type = input.type;
    if (result.plan.dims.ndim == 0 || input.num_elements() == 0) result.forwarded = 0;
    return result;
  }

  void run(SampleContext& sample) const override {
    const Tensor& input = sample.input(0);
    const Transposed result = infer(sample);
    Tensor* const output = sample.output(result);
    if (output == nullptr) return;
    RunMove(result.plan, size_of(input.type)).run(input.as<uint8_t>(), output->as<uint8_t>());
  }

  struct Tasks {
    KernelTasks<PlaneTask> tiles, pixels;
    Gathers gathers;

    void launch(DeviceBatch& batch) const {
      tiles.launch(batch, "transpose_tiles");
      pixels.launch(batch, "transpose_pixels");
      gathers.launch(batch);
    }
  };

  void add(const Transposed& result, TaskData& data, Tasks& tasks) const {
    const void* const in = data.input().data;
    void* const out = data.output().data;
    const int64_t bytes = size_of(result.type);
    PlaneTask task;
    const bool has_planes = describe_planes(result.plan, bytes, in, out, task);
    if (has_planes && has_pixels(task)) {
      const bool into_planes =
          is_short(task.rows) && task.input_stride == task.rows * task.unit_bytes;
      const int64_t length = into_planes ? task.columns : task.rows;
      task.across = quick_divisor(blocks_for(length, kGroup));
      tasks.pixels.add(task, task.planes * task.across.divisor);
    } else if (has_planes && std::min(task.rows, task.columns) >= kLeastSide) {
      const int64_t side = tile_side(task.unit_bytes);
      task.down = quick_divisor(blocks_for(task.rows, side));
      task.across = quick_divisor(blocks_for(task.columns, side));
      const int64_t num_tiles = task.planes * task.down.divisor * task.across.divisor;
      tasks.tiles.add(task, num_tiles * kTileThreads);
    } else {
      tasks.gathers.add(gather_of(result.plan, bytes, in, out));
    }
  }

 private:
  Layout output_layout(const Tensor& input, const int (&order)[kMaxDims]) const {
    if (set_layout_) {
      if (layout_.ndim() != input.shape.ndim)
        throw std::invalid_argument("output_layout must have one letter a dimension (got \"" +
                                    std::string(layout_.c_str()) + "\" for " +
                                    std::to_string(input.shape.ndim) +
                                    " dimensions). Pass a layout that fits.");
      return layout_;
    }
    if (!transpose_layout_ || input.layout.ndim() != input.shape.ndim) return input.layout;
    Layout layout;
    for (int i = 0; i < input.shape.ndim; ++i) layout.letters[i] = input.layout[order[i]];
    return layout;
  }

  std::string order_text() const {
    std::string text = "[";
    for (int dim : order_) text += (text.size() > 1 ? ", " : "") + std::to_string(dim);
    return text + "]";
  }

  bool reversed_, transpose_layout_, set_layout_;
  std::vector<int> order_;
  Layout layout_;
};

DALI_CORE_REGISTER_OPERATOR("transpose", Transpose)

}  // namespace dali_core
