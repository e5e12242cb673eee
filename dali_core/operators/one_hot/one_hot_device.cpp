#include "dali_core/operators/one_hot/one_hot.hpp"

#include <algorithm>
#include <vector>

#include "dali_core/device_inputs.hpp"
#include "dali_core/device_tasks.hpp"
#include "dali_core/operators/one_hot/one_hot_arguments.hpp"

namespace dali_core {

class OneHotOnDevice : public DeviceOperator {
 public:
  explicit OneHotOnDevice(const OperatorConfig& config) : arguments_(config) {}

  void plan(DeviceBatch& batch) const override {
    std::vector<OneHotResult> results(static_cast<size_t>(batch.size()));
    batch.for_each([&](int i, SampleContext& sample) {
      results[i] = arguments_.of(sample);
      batch.declare(0, i, arguments_.type(), results[i].shape, results[i].layout);
    });
    batch.allocate();
    std::vector<OneHotTask> tasks;
    int64_t largest = 0;
    batch.for_each([&](int i, SampleContext& sample) {
      const Tensor& input = sample.input(0);
      const Tensor& output = batch.output(0, i);
      if (output.num_elements() == 0) return;
      OneHotTask task{};
      task.in = data_on_device(batch, input);
      task.out = output.data;
      task.count = output.num_elements();
      task.num_classes = arguments_.num_classes();
      task.inner = results[i].inner;
      task.from = input.type;
      task.bytes = static_cast<int>(size_of(output.type));
      task.on_value = arguments_.on_value();
      task.off_value = arguments_.off_value();
      tasks.push_back(task);
      largest = std::max(largest, task.count);
    });
    launch_tasks(batch, "mark_classes", tasks, blocks_for(largest, 256), 256);
  }

 private:
  OneHotArguments arguments_;
};

DALI_CORE_REGISTER_DEVICE_OPERATOR("one_hot", OneHotOnDevice)

}  // namespace dali_core
