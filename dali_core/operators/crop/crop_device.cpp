#include <vector>

#include "dali_core/crop_window.hpp"
#include "dali_core/device_operator.hpp"
#include "dali_core/geometry.hpp"
#include "dali_core/window_copy_device.hpp"

namespace dali_core {

class CropOnDevice : public DeviceOperator {
 public:
  explicit CropOnDevice(const OperatorConfig& config) : crop_(config), copy_(config) {}

  void plan(DeviceBatch& batch) const override {
    std::vector<PlannedWindow> windows;
    batch.for_each([&](int, SampleContext& sample) {
      const Tensor& image = sample.input(0);
      const Layout layout = image_layout(image, "DHWC");
      const ImageAxes axes = image_axes(layout);
      windows.push_back(
          copy_.plan(image, crop_.window(sample, image.shape, axes), layout, axes.channel));
    });
    DeviceWindowCopies(batch, &copy_).run(windows);
  }

 private:
  CropArguments crop_;
  WindowCopy copy_;
};

DALI_CORE_REGISTER_DEVICE_OPERATOR("crop", CropOnDevice)

}  // namespace dali_core
