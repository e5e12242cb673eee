#include "dali_core/geometry.hpp"
#include "dali_core/kernels/image_chain/crop_in_chain.hpp"
#include "dali_core/kernels/window/crop_window.hpp"
#include "dali_core/kernels/window/window_copy_device.hpp"

namespace dali_core {

class Crop : public Operator, public WindowStep {
 public:
  explicit Crop(const OperatorConfig& config) : crop_(config), copy_(config) {}

  void run(SampleContext& sample) const override {
    const Tensor& image = sample.input(0);
    const Layout layout = image_layout(image, "DHWC");
    const ImageAxes axes = image_axes(layout);
    copy_.run(sample, crop_.window(sample, image.shape, axes), layout, axes.channel);
  }

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

  bool reshape(SampleContext& sample, ImageGeometry& image) const override {
    const Shape shape{image.height(), image.width(), 1};
    return crop_in_chain(image, copy_, crop_.window(sample, shape, image_axes("HWC")));
  }

  bool is_same_for_frames(const SampleContext& sample, int64_t frames) const override {
    return crop_.keeps_frames(sample, frames);
  }

 private:
  CropArguments crop_;
  WindowCopy copy_;
};

DALI_CORE_REGISTER_OPERATOR("crop", Crop)

}  // namespace dali_core
