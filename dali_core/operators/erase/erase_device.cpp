#include <algorithm>
#include <vector>

#include "dali_core/device_inputs.hpp"
#include "dali_core/device_tasks.hpp"
#include "dali_core/fill_elements.hpp"
#include "dali_core/operators/erase/erase_arguments.hpp"

namespace dali_core {

class EraseOnDevice : public DeviceOperator {
 public:
  explicit EraseOnDevice(const OperatorConfig& config) : arguments_(config) {}

  void plan(DeviceBatch& batch) const override {
    std::vector<std::vector<ErasedRegion>> regions(static_cast<size_t>(batch.size()));
    std::vector<std::vector<float>> values(regions.size());
    batch.for_each([&](int i, SampleContext& sample) {
      const Tensor& input = sample.input(0);
      regions[i] = arguments_.find_regions(sample);
      if (regions[i].empty()) {
        batch.forward(0, i, input);
        return;
      }
      std::vector<float> storage;
      values[i] = arguments_.values(sample, storage);
      batch.declare(0, i, input.type, input.shape, input.layout);
    });
    batch.allocate();
    std::vector<EraseTask> tasks;
    int64_t largest = 0;
    batch.for_each([&](int i, SampleContext& sample) {
      const Tensor& input = sample.input(0);
      if (regions[i].empty() || input.num_elements() == 0) return;
      tasks.push_back(task_of(batch, input, batch.output(0, i), regions[i], values[i]));
      largest = std::max(largest, input.num_elements());
    });
    launch_tasks(batch, "erase_regions", tasks, blocks_for(largest, 256), 256);
  }

 private:
  static EraseTask task_of(DeviceBatch& batch, const Tensor& input, const Tensor& output,
                           const std::vector<ErasedRegion>& regions,
                           const std::vector<float>& values) {
    const int ndim = input.shape.ndim;
    const auto ranges = batch.upload<ErasedRange>(regions.size() * static_cast<size_t>(ndim));
    for (size_t k = 0; k < regions.size(); ++k)
      std::copy_n(regions[k].ranges, ndim, ranges.host + k * static_cast<size_t>(ndim));
    const auto bits = batch.upload<uint64_t>(values.size());
    for (size_t k = 0; k < values.size(); ++k) bits.host[k] = fill_bits(input.type, values[k]);
    EraseTask task{};
    task.in = data_on_device(batch, input);
    task.out = output.data;
    task.ranges = ranges.device;
    task.values = bits.device;
    task.count = input.num_elements();
    task.num_regions = static_cast<int>(regions.size());
    task.num_dims = ndim;
    task.channel_axis = values.size() == 1 ? -1 : input.layout.find('C');
    task.bytes = static_cast<int>(size_of(input.type));
    for (int dim = 0; dim < ndim; ++dim) task.extents[dim] = quick_divisor(input.shape[dim]);
    return task;
  }

  EraseArguments arguments_;
};

DALI_CORE_REGISTER_DEVICE_OPERATOR("erase", EraseOnDevice)

}  // namespace dali_core
