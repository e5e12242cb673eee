#include <algorithm>
#include <vector>

#include "dali_core/device_inputs.hpp"
#include "dali_core/device_tasks.hpp"
#include "dali_core/element_groups.hpp"
#include "dali_core/operators/lookup_table/lookup_table_data.hpp"

namespace dali_core {

class LookupTableOnDevice : public DeviceOperator {
 public:
  explicit LookupTableOnDevice(const OperatorConfig& config) : table_(config) {}

  void plan(DeviceBatch& batch) const override {
    batch.for_each([&](int i, SampleContext& sample) {
      const Tensor& input = sample.input(0);
      visit_integer(input.type, [](auto) {});
      batch.declare(0, i, table_.type(), input.shape, input.layout);
    });
    batch.allocate();
    const UploadedArray<unsigned char> table = batch.upload<unsigned char>(table_.bytes().size());
    std::copy(table_.bytes().begin(), table_.bytes().end(), table.host);
    std::vector<LookUpTask> tasks;
    int64_t largest = 0;
    batch.for_each([&](int i, SampleContext& sample) {
      const Tensor& input = sample.input(0);
      if (input.num_elements() == 0) return;
      tasks.push_back({data_on_device(batch, input), batch.output(0, i).data, table.device,
                       input.num_elements(), table_.num_keys(), input.type, table_.type()});
      largest = std::max(largest, num_groups(input.num_elements(), kGroup - 1));
    });
    launch_tasks(batch, "look_up", tasks, blocks_for(largest, kGroupThreads), kGroupThreads);
  }

 private:
  LookupTableData table_;
};

DALI_CORE_REGISTER_DEVICE_OPERATOR("lookup_table", LookupTableOnDevice)

}  // namespace dali_core
