#include "dali_core/device_fill.hpp"
#include "dali_core/filled_shape.hpp"

namespace dali_core {

class FullOnDevice : public DeviceOperator {
 public:
  explicit FullOnDevice(const OperatorConfig& config) : shape_(config) {}

  void plan(DeviceBatch& batch) const override {
    batch.for_each([&](int i, SampleContext& sample) {
      batch.declare(0, i, sample.input(0).type, shape_.shape(sample), shape_.layout());
    });
    batch.allocate();
    std::vector<Gather> gathers;
    batch.for_each([&](int i, SampleContext& sample) {
      const Tensor& value = sample.input(0);
      gathers.push_back(
          repeated_on_device(value, data_on_device(batch, value), batch.output(0, i)));
    });
    launch_gathers(batch, gathers);
  }

 private:
  FilledShape shape_;
};

DALI_CORE_REGISTER_DEVICE_OPERATOR("full", FullOnDevice)

}  // namespace dali_core
