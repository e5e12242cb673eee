#include <algorithm>
#include <vector>

#include "dali_core/device_gather.hpp"
#include "dali_core/device_inputs.hpp"
#include "dali_core/operators/transpose/transpose_arguments.hpp"
#include "dali_core/operators/transpose/transpose_tasks.hpp"

namespace dali_core {
namespace {

constexpr int64_t kLeastSide = 8;  // of a plane that goes through tiles

bool is_unit(int64_t bytes) {
  return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8 || bytes == 16;
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
  if (rows < 0 || !is_unit(unit) || both % static_cast<uintptr_t>(unit) != 0) return false;
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
    if (task.num_dims == kMostPlaneDims) return false;
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
  if (task.unit_bytes > 4) return false;
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

class TransposeOnDevice : public DeviceOperator {
 public:
  explicit TransposeOnDevice(const OperatorConfig& config) : arguments_(config) {}

  void plan(DeviceBatch& batch) const override {
    std::vector<Transposed> results(static_cast<size_t>(batch.size()));
    batch.for_each([&](int i, SampleContext& sample) {
      const Tensor& input = sample.input(0);
      const Transposed result = results[i] = arguments_.of(input);
      if (result.stays) {
        batch.forward(0, i, input, result.shape, result.layout);
      } else {
        batch.declare(0, i, input.type, result.shape, result.layout);
      }
    });
    batch.allocate();
    std::vector<PlaneTask> tiles, pixels;
    std::vector<Gather> gathers;
    int64_t most_tiles = 0, most_groups = 0;
    batch.for_each([&](int i, SampleContext& sample) {
      if (results[i].stays) return;
      const Tensor& input = sample.input(0);
      const void* const in = data_on_device(batch, input);
      void* const out = batch.output(0, i).data;
      const int64_t bytes = size_of(input.type);
      PlaneTask task;
      const bool has_planes = describe_planes(results[i].plan, bytes, in, out, task);
      if (has_planes && has_pixels(task)) {
        const bool into_planes =
            is_short(task.rows) && task.input_stride == task.rows * task.unit_bytes;
        const int64_t length = into_planes ? task.columns : task.rows;
        task.across = quick_divisor(blocks_for(length, kGroup));
        most_groups = std::max(most_groups, task.planes * task.across.divisor);
        pixels.push_back(task);
      } else if (has_planes && std::min(task.rows, task.columns) >= kLeastSide) {
        const int64_t side = tile_side(task.unit_bytes);
        task.down = quick_divisor(blocks_for(task.rows, side));
        task.across = quick_divisor(blocks_for(task.columns, side));
        most_tiles = std::max(most_tiles, task.planes * task.down.divisor * task.across.divisor);
        tiles.push_back(task);
      } else {
        gathers.push_back(gather_of(results[i].plan, bytes, in, out));
      }
    });
    launch_tasks(batch, "transpose_tiles", tiles, most_tiles, kTileThreads);
    launch_tasks(batch, "transpose_pixels", pixels, blocks_for(most_groups, kGroupThreads),
                 kGroupThreads);
    launch_gathers(batch, gathers);
  }

 private:
  TransposeArguments arguments_;
};

DALI_CORE_REGISTER_DEVICE_OPERATOR("transpose", TransposeOnDevice)

}  // namespace dali_core
