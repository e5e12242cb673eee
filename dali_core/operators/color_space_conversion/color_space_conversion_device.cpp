#include "dali_core/operators/color_space_conversion/color_space_conversion.hpp"
#include "dali_core/operators/color_twist/mix_colors_on_device.hpp"

namespace dali_core {

class ColorSpaceConversionOnDevice : public DeviceOperator {
 public:
  explicit ColorSpaceConversionOnDevice(const OperatorConfig& config) : arguments_(config) {}

  void plan(DeviceBatch& batch) const override {
    batch.for_each([&](int i, SampleContext& sample) {
      const Tensor& image = sample.input(0);
      const Layout layout = arguments_.checked_layout(image);
      if (arguments_.stays())
        batch.forward(0, i, image).layout = layout;
      else
        batch.declare(0, i, DataType::kUInt8, arguments_.shape(image), layout);
    });
    if (arguments_.stays()) return;
    batch.allocate();
    std::vector<MixTask> tasks;
    batch.for_each([&](int i, SampleContext& sample) {
      tasks.push_back(mix_task(batch, sample.input(0), batch.output(0, i),
                               arguments_.input_channels(), arguments_.output_channels(),
                               arguments_.matrix()));
    });
    launch_mixes(batch, tasks);
  }

 private:
  ColorSpaceArguments arguments_;
};

DALI_CORE_REGISTER_DEVICE_OPERATOR("color_space_conversion", ColorSpaceConversionOnDevice)

}  // namespace dali_core
