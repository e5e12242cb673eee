#include "dali_core/operators/crop/crop.hpp"

#include "dali_core/crop_window.hpp"
#include "dali_core/geometry.hpp"
#include "dali_core/operator.hpp"
#include "dali_core/window_copy.hpp"

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

  bool reshape(SampleContext& sample, ImageGeometry& image) const override {
    const Shape shape{image.height(), image.width(), 1};
    return copy_.reshape(crop_.window(sample, shape, image_axes("HWC")), image);
  }

 private:
  CropArguments crop_;
  WindowCopy copy_;
};

DALI_CORE_REGISTER_OPERATOR("crop", Crop)

}  // namespace dali_core
