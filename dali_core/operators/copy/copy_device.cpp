#include "dali_core/device_inputs.hpp"
#include "dali_core/device_row_copies.hpp"

namespace dali_core {

class CopyOnDevice : public DeviceOperator {
 public:
  explicit CopyOnDevice(const OperatorConfig&) {}

  void plan(DeviceBatch& batch) const override {
    batch.for_each([&](int i, SampleContext& sample) {
      const Tensor& input = sample.input(0);
      batch.declare(0, i, input.type, input.shape, input.layout);
    });
    batch.allocate();
    std::vector<RowCopy> copies;
    batch.for_each([&](int i, SampleContext& sample) {
      const int64_t bytes = sample.input(0).num_bytes();
      copies.push_back({data_on_device(batch, sample.input(0)), batch.output(0, i).data, 1, bytes,
                        bytes, bytes});
    });
    launch_row_copies(batch, copies);
  }
};

DALI_CORE_REGISTER_DEVICE_OPERATOR("copy", CopyOnDevice)

}  // namespace dali_core
