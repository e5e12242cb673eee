#include <algorithm>
#include <cmath>
#include <limits>

#include "dali_core/kernels/audio/audio_inputs.hpp"
#include "dali_core/kernels/audio/decibels.hpp"
#include "dali_core/kernels/tasks/task_operator.hpp"

namespace dali_core {

class ToDecibels : public TaskOperator<ToDecibels> {
 public:
  explicit ToDecibels(const OperatorConfig& config) {
    const double multiplier = config.get<float>("multiplier");
    const double cutoff = config.get<float>("cutoff_db");
    if (config.has("reference") && config.get<float>("reference") == 0)
      throw std::invalid_argument(
          "reference must not be 0 (got 0). Leave it out for the largest number of each sample.");
    rule_ = {static_cast<float>(multiplier), config.get_or<float>("reference", 0),
             std::max(static_cast<float>(std::pow(10, cutoff / multiplier)),
                      std::numeric_limits<float>::denorm_min())};
  }

  static Inferred infer(const SampleContext& sample) {
    const Tensor& input = sample.input(0);
    check_float(input);
    return {DataType::kFloat, input.shape, input.layout};
  }

  void run(SampleContext& sample) const override {
    const Tensor& input = sample.input(0);
    Tensor& output = *sample.output(infer(sample));
    convert_to_decibels(rule_, input.as<float>(), output.as<float>(), input.num_elements());
  }

  struct Tasks {
    KernelTasks<DecibelTask> references, numbers;

    void launch(DeviceBatch& batch) const {
      references.launch_single_blocks(batch, "find_largest", kLargestThreads);
      numbers.launch(batch, "convert_to_decibels");
    }
  };

  void add(const Inferred&, TaskData& data, Tasks& tasks) const {
    const Tensor input = data.input();
    DecibelTask task{input.as<float>(),    data.output().as<float>(),
                     input.num_elements(), rule_,
                     natural_scale(rule_), nullptr};
    if (rule_.reference == 0) {
      task.largest = data.scratch<float>(1);
      tasks.references.add(task, 1);
    }
    tasks.numbers.add(task, task.count);
  }

 private:
  DecibelRule rule_;
};

DALI_CORE_REGISTER_OPERATOR("to_decibels", ToDecibels)

}  // namespace dali_core
