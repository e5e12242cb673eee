#include <memory>
#include <vector>

#include "dali_core/device_elementwise.hpp"

namespace dali_core {

// A group of one. The host's operator knows which types there are.
class ArithmeticOnDevice : public DeviceOperator {
 public:
  explicit ArithmeticOnDevice(const OperatorConfig& config)
      : on_host_(operator_registry().at("arithmetic").make(config)),
        alone_({dynamic_cast<const ElementwiseStep*>(on_host_.get())},
               {std::vector<int>(static_cast<size_t>(config.num_inputs), -1)}) {}

  void plan(DeviceBatch& batch) const override { alone_.plan(batch); }

 private:
  const std::unique_ptr<const Operator> on_host_;
  const DeviceElementwise alone_;
};

DALI_CORE_REGISTER_DEVICE_OPERATOR("arithmetic", ArithmeticOnDevice)

}  // namespace dali_core
