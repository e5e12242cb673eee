#include <vector>

#include "dali_core/device_gather.hpp"
#include "dali_core/device_inputs.hpp"
#include "dali_core/fill_elements.hpp"
#include "dali_core/geometry.hpp"
#include "dali_core/operators/pad/pad_arguments.hpp"

namespace dali_core {

class PadOnDevice : public DeviceOperator {
 public:
  explicit PadOnDevice(const OperatorConfig& config) : arguments_(config) {}

  void plan(DeviceBatch& batch) const override {
    std::vector<float> values(static_cast<size_t>(batch.size()));
    batch.for_each([&](int i, SampleContext& sample) {
      const Tensor& input = sample.input(0);
      const Shape shape = arguments_.padded_shape(sample);
      if (shape == input.shape && input.device != kHost) {
        batch.forward(0, i, input);
        return;
      }
      values[i] = shape == input.shape ? 0 : arguments_.value(sample);
      batch.declare(0, i, input.type, shape, input.layout);
    });
    batch.allocate();
    std::vector<Gather> gathers;
    batch.for_each([&](int i, SampleContext& sample) {
      const Tensor& input = sample.input(0);
      const Tensor& output = batch.output(0, i);
      if (output.data == input.data) return;
      Gather gather;
      gather.in = data_on_device(batch, input);
      gather.out = output.data;
      gather.element_bytes = size_of(input.type);
      gather.extents = output.shape;
      gather.is_padded = true;
      const Strides strides = dense_strides(input.shape);
      for (int dim = 0; dim < output.shape.ndim; ++dim) {
        gather.strides[dim] = strides[dim] * gather.element_bytes;
        gather.limits[dim] = input.shape[dim];
      }
      gather.padding = fill_bits(input.type, values[i]);
      gathers.push_back(gather);
    });
    launch_gathers(batch, gathers);
  }

 private:
  PadArguments arguments_;
};

DALI_CORE_REGISTER_DEVICE_OPERATOR("pad", PadOnDevice)

}  // namespace dali_core
