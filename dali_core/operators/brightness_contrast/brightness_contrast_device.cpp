#include <algorithm>
#include <vector>

#include "dali_core/device_inputs.hpp"
#include "dali_core/device_tasks.hpp"
#include "dali_core/element_groups.hpp"
#include "dali_core/operators/brightness_contrast/adjust_image.hpp"

namespace dali_core {

// fn.brightness_contrast, and fn.brightness and fn.contrast, which have some of its arguments.
class BrightnessContrastOnDevice : public DeviceOperator {
 public:
  explicit BrightnessContrastOnDevice(const OperatorConfig& config) : arguments_(config) {}

  void plan(DeviceBatch& batch) const override {
    std::vector<AdjustedImage> results(static_cast<size_t>(batch.size()));
    batch.for_each([&](int i, SampleContext& sample) {
      const Tensor& image = sample.input(0);
      const AdjustedImage& result = results[i] = arguments_.of(sample);
      if (result.stays)
        batch.forward(0, i, image).layout = result.layout;
      else
        batch.declare(0, i, result.type, image.shape, result.layout);
    });
    batch.allocate();
    std::vector<AdjustTask> tasks;
    int64_t largest = 0;
    batch.for_each([&](int i, SampleContext& sample) {
      const Tensor& image = sample.input(0);
      if (results[i].stays || image.num_elements() == 0) return;
      tasks.push_back({data_on_device(batch, image), batch.output(0, i).data, image.num_elements(),
                       image.type, results[i].type, results[i].rule});
      largest = std::max(largest, num_groups(image.num_elements(), kGroup - 1));
    });
    launch_tasks(batch, "adjust_elements", tasks, blocks_for(largest, kGroupThreads),
                 kGroupThreads);
  }

 private:
  BrightnessContrastArguments arguments_;
};

using BrightnessOnDevice = BrightnessContrastOnDevice;
using ContrastOnDevice = BrightnessContrastOnDevice;

DALI_CORE_REGISTER_DEVICE_OPERATOR("brightness_contrast", BrightnessContrastOnDevice)
DALI_CORE_REGISTER_DEVICE_OPERATOR("brightness", BrightnessOnDevice)
DALI_CORE_REGISTER_DEVICE_OPERATOR("contrast", ContrastOnDevice)

}  // namespace dali_core
