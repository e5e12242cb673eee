#include <algorithm>

#include "dali_core/device_inputs.hpp"
#include "dali_core/element_groups.hpp"
#include "dali_core/operators/cast/cast.hpp"
#include "dali_core/operators/cast/cast_tensor.hpp"

namespace dali_core {

void cast_batch(DeviceBatch& batch, const std::vector<DataType>& types) {
  int64_t largest = 0;
  batch.for_each([&](int i, SampleContext& sample) {
    const Tensor& input = sample.input(0);
    if (input.type == types[i])
      batch.forward(0, i, input);
    else
      batch.declare(0, i, types[i], input.shape, input.layout);
  });
  batch.allocate();
  const auto tasks = batch.upload<CastTask>(static_cast<size_t>(batch.size()));
  batch.for_each([&](int i, SampleContext& sample) {
    const Tensor& input = sample.input(0);
    Tensor& output = batch.output(0, i);
    const int64_t count = input.type == types[i] ? 0 : input.num_elements();
    largest = std::max(largest, count);
    tasks.host[i] = {count > 0 ? data_on_device(batch, input) : nullptr, output.data, count,
                     input.type, types[i]};
  });
  const int64_t groups = largest > 0 ? num_groups(largest, kGroup - 1) : 0;
  batch.launch("cast_elements", blocks_for(groups, kGroupThreads, kCastGroups), kGroupThreads,
               tasks.device, batch.size());
}

class CastOnDevice : public DeviceOperator {
 public:
  explicit CastOnDevice(const OperatorConfig& config) : type_(cast_type(config)) {}

  void plan(DeviceBatch& batch) const override {
    cast_batch(batch, std::vector<DataType>(static_cast<size_t>(batch.size()), type_));
  }

 private:
  DataType type_;
};

DALI_CORE_REGISTER_DEVICE_OPERATOR("cast", CastOnDevice)

}  // namespace dali_core
