// Operators that resize, on a device.
#pragma once

#include <vector>

#include "dali_core/device_operator.hpp"
#include "dali_core/operators/resize/resize_image.hpp"
#include "dali_core/resample_device.hpp"

namespace dali_core {

template <typename Rule>
class ResizingOnDevice : public DeviceOperator {
 public:
  explicit ResizingOnDevice(const OperatorConfig& config) : rule_(config) {}

  void plan(DeviceBatch& batch) const override {
    std::vector<PlannedResampling> planned;
    batch.for_each([&](int, SampleContext& sample) {
      const Tensor& input = sample.input(0);
      const ResizeView view(input, Rule::kHasVolumes);
      ResampleAxis axes[3];
      rule_.choose(sample, view, axes);
      planned.emplace_back(input, view, axes, rule_.output_type(input.type));
    });
    resample_on_device(batch, planned);
  }

 private:
  Rule rule_;
};

}  // namespace dali_core
