#include <algorithm>

#include "dali_core/device_fill.hpp"
#include "dali_core/operators/cast/cast.hpp"

namespace dali_core {

class FullLikeOnDevice : public DeviceOperator {
 public:
  explicit FullLikeOnDevice(const OperatorConfig&) {}

  void plan(DeviceBatch& batch) const override {
    batch.for_each([&](int i, SampleContext& sample) {
      const Tensor& like = sample.input(0);
      batch.declare(0, i, like.type, like.shape, like.layout);
    });
    batch.allocate();
    std::vector<CastTask> casts;
    std::vector<Gather> gathers;
    int64_t largest = 0;
    batch.for_each([&](int i, SampleContext& sample) {
      const Tensor& value = sample.input(1);
      const Tensor& output = batch.output(0, i);
      const void* data = data_on_device(batch, value);
      const int64_t count = value.num_elements();
      if (value.type != output.type && count > 0) {
        void* const converted = batch.scratch(static_cast<size_t>(count * size_of(output.type)));
        casts.push_back({data, converted, count, value.type, output.type});
        largest = std::max(largest, count);
        data = converted;
      }
      gathers.push_back(repeated_on_device(value, data, output));
    });
    const int64_t groups = num_groups(largest, kGroup - 1);
    launch_tasks(batch, "cast_elements", casts, blocks_for(groups, kGroupThreads, kCastGroups),
                 kGroupThreads);
    launch_gathers(batch, gathers);
  }
};

DALI_CORE_REGISTER_DEVICE_OPERATOR("full_like", FullLikeOnDevice)

}  // namespace dali_core
