#include <algorithm>

#include "dali_core/device_operator.hpp"
#include "dali_core/element_groups.hpp"
#include "dali_core/operators/random/rejection.hpp"
#include "dali_core/operators/random/uniform/uniform.hpp"
#include "dali_core/operators/random/uniform/uniform_arguments.hpp"

namespace dali_core {

class UniformOnDevice : public DeviceOperator {
 public:
  explicit UniformOnDevice(const OperatorConfig& config) : arguments_(config), seed_(config.seed) {}

  void plan(DeviceBatch& batch) const override {
    batch.for_each([&](int i, SampleContext& sample) {
      batch.declare(0, i, arguments_.type(), arguments_.shape(sample));
    });
    batch.allocate();
    const auto tasks = batch.upload<UniformTask>(static_cast<size_t>(batch.size()));
    const UploadedArray<float>* shared = nullptr;
    UploadedArray<float> values{};
    const auto rejected = batch.upload<int>(static_cast<size_t>(batch.size()));
    int64_t largest = 0;
    bool may_reject = false;
    batch.for_each([&](int i, SampleContext& sample) {
      std::vector<float> storage;
      const std::vector<float>& given = arguments_.parameters(sample, storage);
      const Tensor& output = batch.output(0, i);
      UniformTask& task = tasks.host[i];
      task = UniformTask{};
      task.out = output.data;
      task.count = output.num_elements();
      task.seed = seed_;
      task.key = sample.key();
      task.type = output.type;
      task.has_rejected = const_cast<int*>(rejected.device + i);
      rejected.host[i] = 0;
      largest = std::max(largest, task.count);
      if (!arguments_.has_values()) {
        task.low = given[0];
        task.high = given[1];
        return;
      }
      if (shared == nullptr || !storage.empty()) {
        values = batch.upload<float>(given.size());
        std::copy(given.begin(), given.end(), values.host);
        shared = &values;
      }
      task.values = shared->device;
      task.num_values = static_cast<uint32_t>(given.size());
      may_reject = may_reject || num_rejected(task.num_values) > 0;
    });
    const int64_t blocks = blocks_for(num_groups(largest, 0), kGroupThreads);
    batch.launch("draw_uniform", blocks, kGroupThreads, tasks.device, batch.size());
    if (may_reject) batch.launch("redraw_uniform", blocks > 0, 32, tasks.device, batch.size());
  }

 private:
  UniformArguments arguments_;
  uint64_t seed_;
};

DALI_CORE_REGISTER_DEVICE_OPERATOR("random.uniform", UniformOnDevice)

}  // namespace dali_core
