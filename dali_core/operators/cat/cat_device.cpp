#include "dali_core/device_joining.hpp"
#include "dali_core/operators/cat/cat.hpp"

namespace dali_core {

class CatOnDevice : public DeviceOperator {
 public:
  explicit CatOnDevice(const OperatorConfig& config) : arguments_(config) {}

  void plan(DeviceBatch& batch) const override { join_on_device(batch, arguments_); }

 private:
  CatArguments arguments_;
};

DALI_CORE_REGISTER_DEVICE_OPERATOR("cat", CatOnDevice)

}  // namespace dali_core
