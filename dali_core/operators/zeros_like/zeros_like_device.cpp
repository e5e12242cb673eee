#include "dali_core/device_fill.hpp"

namespace dali_core {

class ZerosLikeOnDevice : public DeviceOperator {
 public:
  explicit ZerosLikeOnDevice(const OperatorConfig& config)
      : type_(config.get_or<DataType>("dtype", DataType::kNone)) {}

  void plan(DeviceBatch& batch) const override {
    batch.for_each([&](int i, SampleContext& sample) {
      const Tensor& like = sample.input(0);
      batch.declare(0, i, type_ == DataType::kNone ? like.type : type_, like.shape, like.layout);
    });
    batch.allocate();
    fill_on_device(batch, 0);
  }

 private:
  DataType type_;
};

DALI_CORE_REGISTER_DEVICE_OPERATOR("zeros_like", ZerosLikeOnDevice)

}  // namespace dali_core
