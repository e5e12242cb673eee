#include <algorithm>
#include <vector>

#include "dali_core/device_operator.hpp"
#include "dali_core/normalize_device.hpp"
#include "dali_core/operators/crop_mirror_normalize/crop_mirror_normalize_arguments.hpp"

namespace dali_core {

class CropMirrorNormalizeOnDevice : public DeviceOperator {
 public:
  explicit CropMirrorNormalizeOnDevice(const OperatorConfig& config) : arguments_(config) {}

  void plan(DeviceBatch& batch) const override {
    std::vector<PlannedNormalization> planned;
    batch.for_each([&](int, SampleContext& sample) { planned.push_back(plan_sample(sample)); });
    normalize_on_device(batch, planned);
  }

 private:
  PlannedNormalization plan_sample(SampleContext& sample) const {
    const Tensor& image = sample.input(0);
    const Layout layout = image_layout(image, "DHWC");
    const ImageAxes axes = image_axes(layout);
    PlannedNormalization planned{arguments_.window(sample, image.shape, axes), axes};
    const bool mirror = arguments_.mirror(sample);
    planned.mirror_columns = mirror;
    planned.layout = arguments_.output_layout(layout);
    const Permutation permutation(layout, planned.layout);
    const int64_t channels = axes.channel < 0 ? 1 : image.shape[axes.channel];
    std::vector<ChannelNormalization> rules(static_cast<size_t>(channels));
    arguments_.rules(sample, channels, rules.data());
    planned.is_forwarded =
        arguments_.changes_nothing(image, layout, planned.window, mirror, channels, rules.data());
    if (planned.is_forwarded) {
      planned.layout = layout;
      return planned;
    }
    planned.type = arguments_.type;
    std::copy_n(permutation.input_axis, layout.ndim(), planned.input_axis);
    planned.shape = arguments_.output_shape(planned.window, permutation, axes,
                                            arguments_.output_channels(channels));
    planned.channels =
        arguments_.finished_channels(sample, channels, planned.shape, planned.layout);
    return planned;
  }

  CropMirrorNormalizeArguments arguments_;
};

DALI_CORE_REGISTER_DEVICE_OPERATOR("crop_mirror_normalize", CropMirrorNormalizeOnDevice)

}  // namespace dali_core
