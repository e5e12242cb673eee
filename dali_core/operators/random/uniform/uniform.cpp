#include "dali_core/kernels/random/uniform.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "dali_core/element_groups.hpp"
#include "dali_core/kernels/random/output_shape.hpp"
#include "dali_core/kernels/random/rejection.hpp"
#include "dali_core/kernels/tasks/task_operator.hpp"

namespace dali_core {

class Uniform : public KernelOperator<Uniform, UniformTask> {
 public:
  static constexpr auto kKernel = "draw_uniform";

  explicit Uniform(const OperatorConfig& config)
      : range_(config, "range"),
        values_(config, "values"),
        shape_(config),
        type_(config.get<DataType>("dtype")),
        seed_(config.seed) {
    if (!values_.given() && range_.is_constant())
      check_range(config.get<std::vector<float>>("range"));
  }

  struct Result : Inferred {
    std::vector<float> own;                        // parameters that came with the sample
    const std::vector<float>* constant = nullptr;  // or those of all

    const std::vector<float>& parameters() const { return constant ? *constant : own; }
  };

  Result infer(const SampleContext& sample) const {
    Result result{{type_, shape_.at(sample), {}}, {}};
    const std::vector<float>& given = (values_.given() ? values_ : range_).at(sample, result.own);
    if (result.own.empty()) result.constant = &given;
    if (!values_.given()) check_range(given);
    return result;
  }

  UniformTask task(const Result& result, TaskData& data) const {
    const std::vector<float>& parameters = result.parameters();
    UniformTask task{};
    task.out = data.output().data;
    task.count = data.output().num_elements();
    task.seed = seed_;
    task.key = data.sample().key();
    task.type = type_;
    task.has_rejected = data.variable(0);
    if (values_.given()) {
      task.values = data.array(parameters);
      task.num_values = static_cast<uint32_t>(parameters.size());
    } else {
      task.low = parameters[0];
      task.high = parameters[1];
    }
    return task;
  }

  static int64_t threads_for(const UniformTask& task) { return num_groups(task.count, 0); }

  static void compute(const UniformTask& task) {
    RandomStream random(task.seed, task.key);
    visit_type(task.type, [&](auto zero) {
      using To = decltype(zero);
      To* const numbers = static_cast<To*>(task.out);
      if (task.num_values > 0) {
        for (int64_t i = 0; i < task.count; ++i)
          numbers[i] = convert<To>(task.values[random.next_below(task.num_values)]);
      } else {
        for (int64_t i = 0; i < task.count; ++i)
          numbers[i] = draw_from_range<To>(random, task.low, task.high);
      }
    });
  }

  // Numbers that a draw in parallel rejects are drawn again, one by one.
  struct Tasks : KernelTasks<UniformTask> {
    void launch(DeviceBatch& batch) const {
      KernelTasks::launch(batch, kKernel);
      const auto may_reject = [](const UniformTask& task) {
        return task.num_values > 0 && num_rejected(task.num_values) > 0;
      };
      if (std::any_of(all().begin(), all().end(), may_reject))
        launch_single_blocks(batch, "redraw_uniform", 32);
    }
  };

 private:
  static void check_range(const std::vector<float>& range) {
    if (range[0] >= range[1])
      throw std::invalid_argument("range must end above its start (got " +
                                  std::to_string(range[0]) + " to " + std::to_string(range[1]) +
                                  "). Pass (least, end).");
  }

  ListArgument<float> range_, values_;
  OutputShape shape_;
  DataType type_;
  uint64_t seed_;
};

DALI_CORE_REGISTER_OPERATOR("random.uniform", Uniform)

}  // namespace dali_core
