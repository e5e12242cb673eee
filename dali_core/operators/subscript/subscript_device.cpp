#include <vector>

#include "dali_core/device_gather.hpp"
#include "dali_core/device_inputs.hpp"
#include "dali_core/operators/subscript/subscript_arguments.hpp"

namespace dali_core {

class SubscriptOnDevice : public DeviceOperator {
 public:
  explicit SubscriptOnDevice(const OperatorConfig& config) : arguments_(config) {}

  void plan(DeviceBatch& batch) const override {
    std::vector<Subscripted> parts(static_cast<size_t>(batch.size()));
    std::vector<bool> is_view(parts.size());
    batch.for_each([&](int i, SampleContext& sample) {
      const Tensor& input = sample.input(0);
      const Subscripted& part = parts[i] = arguments_.of(sample);
      is_view[i] = input.device != kHost && part.is_view(input);
      if (is_view[i]) {
        Tensor& view = batch.forward(0, i, input, part.shape, part.layout);
        view.data = static_cast<char*>(input.data) + part.offset;
      } else {
        batch.declare(0, i, input.type, part.shape, part.layout);
      }
    });
    batch.allocate();
    std::vector<Gather> gathers;
    batch.for_each([&](int i, SampleContext& sample) {
      const Subscripted& part = parts[i];
      if (is_view[i] || part.shape.num_elements() == 0) return;
      Gather gather;
      gather.in = static_cast<const char*>(data_on_device(batch, sample.input(0))) + part.offset;
      gather.out = batch.output(0, i).data;
      gather.element_bytes = size_of(sample.input(0).type);
      for (size_t dim = 0; dim < part.selections.size(); ++dim) {
        gather.extents.push_back(part.selections[dim].count);
        gather.strides[dim] = part.selections[dim].step * part.strides[dim];
      }
      gathers.push_back(gather);
    });
    launch_gathers(batch, gathers);
  }

 private:
  SubscriptArguments arguments_;
};

DALI_CORE_REGISTER_DEVICE_OPERATOR("subscript", SubscriptOnDevice)

}  // namespace dali_core
