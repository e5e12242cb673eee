#include <algorithm>
#include <vector>

#include "dali_core/device_inputs.hpp"
#include "dali_core/device_tasks.hpp"
#include "dali_core/element_groups.hpp"
#include "dali_core/operators/cast/cast.hpp"
#include "dali_core/operators/random/choice/choice.hpp"
#include "dali_core/operators/random/choice/choice_arguments.hpp"

namespace dali_core {

class ChoiceOnDevice : public DeviceOperator {
 public:
  explicit ChoiceOnDevice(const OperatorConfig& config) : arguments_(config), seed_(config.seed) {}

  void plan(DeviceBatch& batch) const override {
    std::vector<Chosen> results(static_cast<size_t>(batch.size()));
    batch.for_each([&](int i, SampleContext& sample) {
      results[i] = arguments_.of(sample);
      batch.declare(0, i, sample.input(0).type, results[i].shape, results[i].layout);
    });
    batch.allocate();
    std::vector<ChoiceTask> choices;
    std::vector<CastTask> casts;
    std::vector<ChosenCopy> copies;
    int64_t most_drawn = 0, most_units = 0;
    batch.for_each([&](int i, SampleContext& sample) {
      const Tensor& from = sample.input(0);
      const Tensor& output = batch.output(0, i);
      if (output.num_elements() == 0) return;
      choices.push_back(choice_task(batch, from, results[i], sample.key()));
      const int64_t* const chosen = choices.back().chosen;
      most_drawn = std::max(most_drawn, results[i].num_drawn);
      if (from.shape.ndim == 0) {
        casts.push_back({chosen, output.data, results[i].num_drawn, DataType::kUInt64, from.type});
      } else {
        copies.push_back({data_on_device(batch, from), output.data, chosen, output.num_elements(),
                          results[i].slice_elements, static_cast<int>(size_of(from.type))});
        most_units = std::max(most_units, output.num_elements());
      }
    });
    const int64_t blocks = blocks_for(most_drawn, kGroupThreads);
    launch_tasks(batch, "choose", choices, blocks, kGroupThreads);
    launch_tasks(batch, "choose_again", choices, blocks > 0, 32);
    launch_tasks(batch, "cast_elements", casts,
                 blocks_for(num_groups(most_drawn, kGroup - 1), kGroupThreads, kCastGroups),
                 kGroupThreads);
    launch_tasks(batch, "copy_chosen", copies, blocks_for(most_units, kGroupThreads),
                 kGroupThreads);
  }

 private:
  ChoiceTask choice_task(DeviceBatch& batch, const Tensor& from, const Chosen& result,
                         SampleKey key) const {
    ChoiceTask task{};
    const auto drawn = static_cast<size_t>(result.num_drawn);
    task.chosen = static_cast<int64_t*>(batch.scratch(drawn * sizeof(int64_t)));
    if (!result.sums.empty()) {
      const auto sums = batch.upload<double>(result.sums.size());
      std::copy(result.sums.begin(), result.sums.end(), sums.host);
      task.sums = sums.device;
    }
    const auto rejected = batch.upload<int>(1);
    *rejected.host = 0;
    task.has_rejected = const_cast<int*>(rejected.device);
    task.count = result.num_drawn;
    task.num_choices = result.num_choices;
    task.bound = from.data;
    task.bound_type = from.type;
    task.seed = seed_;
    task.key = key;
    return task;
  }

  ChoiceArguments arguments_;
  uint64_t seed_;
};

DALI_CORE_REGISTER_DEVICE_OPERATOR("random.choice", ChoiceOnDevice)

}  // namespace dali_core
