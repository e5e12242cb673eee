// Applies a color matrix to images on a device.
#pragma once

#include <algorithm>
#include <cstring>
#include <vector>

#include "dali_core/device_inputs.hpp"
#include "dali_core/device_tasks.hpp"
#include "dali_core/element_groups.hpp"
#include "dali_core/operators/color_twist/mix_colors.hpp"
#include "dali_core/operators/color_twist/mix_task.hpp"

namespace dali_core {

inline MixTask mix_task(DeviceBatch& batch, const Tensor& image, const Tensor& output,
                        int input_channels, int output_channels, const ColorMatrix& matrix) {
  MixTask task{};
  task.in = data_on_device(batch, image);
  task.out = output.data;
  task.pixels = image.num_elements() / input_channels;
  task.from = image.type;
  task.to = output.type;
  task.input_channels = static_cast<int8_t>(input_channels);
  task.output_channels = static_cast<int8_t>(output_channels);
  std::memcpy(task.factors, matrix.factors, sizeof task.factors);
  std::memcpy(task.offsets, matrix.offsets, sizeof task.offsets);
  return task;
}

inline void launch_mixes(DeviceBatch& batch, const std::vector<MixTask>& tasks) {
  int64_t largest = 0;
  for (const MixTask& task : tasks) largest = std::max(largest, task.pixels);
  launch_tasks(batch, "mix_colors", tasks, blocks_for(largest, kGroupThreads, kGroup),
               kGroupThreads);
}

// The counterpart of MixColors.
template <typename Arguments>
class MixColorsOnDevice : public DeviceOperator {
 public:
  explicit MixColorsOnDevice(const OperatorConfig& config)
      : arguments_(config), output_type_(config) {}

  void plan(DeviceBatch& batch) const override {
    std::vector<ColorTransform> transforms(static_cast<size_t>(batch.size()));
    std::vector<bool> stays(transforms.size());
    batch.for_each([&](int i, SampleContext& sample) {
      const Tensor& image = sample.input(0);
      transforms[i] = arguments_.of(sample);
      const ColorResult result = color_result(image, transforms[i], output_type_);
      stays[i] = result.stays;
      if (result.stays)
        batch.forward(0, i, image).layout = result.layout;
      else
        batch.declare(0, i, result.type, image.shape, result.layout);
    });
    batch.allocate();
    std::vector<MixTask> tasks;
    batch.for_each([&](int i, SampleContext& sample) {
      if (!stays[i])
        tasks.push_back(
            mix_task(batch, sample.input(0), batch.output(0, i), 3, 3, ColorMatrix(transforms[i])));
    });
    launch_mixes(batch, tasks);
  }

 private:
  Arguments arguments_;
  ColorOutputType output_type_;
};

}  // namespace dali_core
