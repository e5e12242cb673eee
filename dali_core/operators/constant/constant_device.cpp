#include <algorithm>
#include <vector>

#include "dali_core/device_row_copies.hpp"
#include "dali_core/operators/constant/constant.hpp"

namespace dali_core {

// As on the host, each sample gets its own copy.
class ConstantOnDevice : public DeviceOperator {
 public:
  explicit ConstantOnDevice(const OperatorConfig& config) : data_(config) {}

  void plan(DeviceBatch& batch) const override {
    for (int i = 0; i < batch.size(); ++i)
      batch.declare(0, i, data_.type(), data_.shape(), data_.layout());
    batch.allocate();
    const UploadedArray<char> bytes = batch.upload<char>(data_.bytes().size());
    std::copy(data_.bytes().begin(), data_.bytes().end(), bytes.host);
    const auto count = static_cast<int64_t>(data_.bytes().size());
    std::vector<RowCopy> copies;
    for (int i = 0; i < batch.size(); ++i)
      copies.push_back({bytes.device, batch.output(0, i).data, 1, count, count, count});
    launch_row_copies(batch, copies);
  }

 private:
  ConstantData data_;
};

DALI_CORE_REGISTER_DEVICE_OPERATOR("constant", ConstantOnDevice)

}  // namespace dali_core
