#include <vector>

#include "dali_core/device_operator.hpp"
#include "dali_core/operators/flip/flip_arguments.hpp"
#include "dali_core/window_copy_device.hpp"

namespace dali_core {

class FlipOnDevice : public DeviceOperator {
 public:
  explicit FlipOnDevice(const OperatorConfig& config) : arguments_(config) {}

  void plan(DeviceBatch& batch) const override {
    std::vector<PlannedWindow> windows;
    batch.for_each([&](int i, SampleContext& sample) {
      const Tensor& image = sample.input(0);
      const Layout layout = image_layout(image, "FHWC");
      PlannedWindow planned{Window(image.shape), image.type, layout, /*channel_axis=*/-1, false};
      planned.is_whole = !arguments_.choose(sample, image, layout, planned.mirrored);
      windows.push_back(planned);
    });
    DeviceWindowCopies(batch).run(windows);
  }

 private:
  FlipArguments arguments_;
};

DALI_CORE_REGISTER_DEVICE_OPERATOR("flip", FlipOnDevice)

}  // namespace dali_core
