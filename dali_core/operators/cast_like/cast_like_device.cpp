#include "dali_core/operators/cast/cast_tensor.hpp"

namespace dali_core {

class CastLikeOnDevice : public DeviceOperator {
 public:
  explicit CastLikeOnDevice(const OperatorConfig&) {}

  void plan(DeviceBatch& batch) const override {
    std::vector<DataType> types(static_cast<size_t>(batch.size()));
    batch.for_each([&](int i, SampleContext& sample) { types[i] = sample.input(1).type; });
    cast_batch(batch, types);
  }
};

DALI_CORE_REGISTER_DEVICE_OPERATOR("cast_like", CastLikeOnDevice)

}  // namespace dali_core
