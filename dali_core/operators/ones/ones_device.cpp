#include "dali_core/device_fill.hpp"
#include "dali_core/filled_shape.hpp"

namespace dali_core {

class OnesOnDevice : public DeviceOperator {
 public:
  explicit OnesOnDevice(const OperatorConfig& config)
      : shape_(config), type_(config.get_or<DataType>("dtype", DataType::kInt32)) {}

  void plan(DeviceBatch& batch) const override {
    batch.for_each([&](int i, SampleContext& sample) {
      batch.declare(0, i, type_, shape_.shape(sample), shape_.layout());
    });
    batch.allocate();
    fill_on_device(batch, 1);
  }

 private:
  FilledShape shape_;
  DataType type_;
};

DALI_CORE_REGISTER_DEVICE_OPERATOR("ones", OnesOnDevice)

}  // namespace dali_core
