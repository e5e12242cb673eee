// Convolution with products of windows on a device: one kernel for usual images, or one for each
// data axis. Sums have the order of the host's.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "dali_core/kernels/convolution/axis_task.hpp"
#include "dali_core/kernels/convolution/convolution.hpp"
#include "dali_core/kernels/convolution/tile_task.hpp"
#include "dali_core/kernels/tasks/task_operator.hpp"

namespace dali_core {

// Along depth, width and height. What one pass writes is read by the next one.
struct SeparableTasks {
  KernelTasks<AxisTask> passes[3];
  std::vector<TileTask> tiles;

  void launch(DeviceBatch& batch) const {
    int64_t most_tiles = 0, shared_bytes = 0;
    for (const TileTask& task : tiles) {
      most_tiles = std::max(most_tiles, task.tiles());
      shared_bytes = std::max(shared_bytes, task.shared_bytes());
    }
    launch_tasks(batch, "convolve_tiles", tiles, most_tiles, kConvolvedThreads,
                 static_cast<unsigned>(shared_bytes));
    for (const KernelTasks<AxisTask>& tasks : passes) tasks.launch(batch, "convolve_axis");
  }
};

// What an operator infers: the axes of its input, and the windows of each plane, or of all planes
// together.
struct SeparableResult : Inferred {
  DataAxes axes;
  std::vector<std::vector<SeparableWindow>> windows;
  std::vector<float> weights;  // of all windows: plane by plane, axis by axis

  // Output 0 for `dtype`; windows are to be added.
  SeparableResult(const Tensor& input, DataType dtype);

  void add(std::vector<SeparableWindow> of_plane);
};

// Adds what convolve_separable() does for every plane of a sample.
void add_separable(const SeparableResult& result, TaskData& data, SeparableTasks& tasks);

// Needs `find(sample, axes, frame)`, which returns the windows of a plane, and
// `is_per_frame(sample)`: whether they differ between frames.
template <typename Self>
class SeparableOperator : public TaskOperator<Self> {
 public:
  using Tasks = SeparableTasks;

  explicit SeparableOperator(const OperatorConfig& config)
      : dtype_(config.get_or<DataType>("dtype", DataType::kNone)) {}

  SeparableResult infer(const SampleContext& sample) const {
    SeparableResult result(sample.input(0), dtype_);
    const int64_t planes = self().is_per_frame(sample)
                               ? result.axes.num_planes
                               : std::min<int64_t>(result.axes.num_planes, 1);
    for (int64_t plane = 0; plane < planes; ++plane)
      result.add(self().find(sample, result.axes, result.axes.frame_of(plane)));
    return result;
  }

  void run(SampleContext& sample) const override {
    const SeparableResult result = infer(sample);
    const Tensor& input = sample.input(0);
    Tensor& output = *sample.output(result);
    const int64_t size = result.axes.plane_size();
    for (int64_t plane = 0; plane < result.axes.num_planes; ++plane) {
      const ConvolvedPlane where = {
          input.as<uint8_t>() + plane * size * size_of(input.type), input.type,
          output.as<uint8_t>() + plane * size * size_of(result.type), result.type};
      const size_t number = result.windows.size() > 1 ? static_cast<size_t>(plane) : 0;
      convolve_separable(sample, where, result.axes, result.windows[number]);
    }
  }

  void add(const SeparableResult& result, TaskData& data, SeparableTasks& tasks) const {
    add_separable(result, data, tasks);
  }

 protected:
  using TaskOperator<Self>::self;

 private:
  DataType dtype_;
};

}  // namespace dali_core
