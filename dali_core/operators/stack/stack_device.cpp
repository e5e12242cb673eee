#include "dali_core/device_joining.hpp"
#include "dali_core/operators/stack/stack.hpp"

namespace dali_core {

class StackOnDevice : public DeviceOperator {
 public:
  explicit StackOnDevice(const OperatorConfig& config) : arguments_(config) {}

  void plan(DeviceBatch& batch) const override { join_on_device(batch, arguments_); }

 private:
  StackArguments arguments_;
};

DALI_CORE_REGISTER_DEVICE_OPERATOR("stack", StackOnDevice)

}  // namespace dali_core
