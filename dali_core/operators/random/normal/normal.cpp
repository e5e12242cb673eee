#include "dali_core/kernels/random/normal.hpp"

#include "dali_core/kernels/random/output_shape.hpp"
#include "dali_core/kernels/tasks/task_operator.hpp"

namespace dali_core {

class Normal : public KernelOperator<Normal, NormalTask> {
 public:
  static constexpr auto kKernel = "draw_normal";

  explicit Normal(const OperatorConfig& config)
      : mean_(config, "mean"),
        stddev_(config, "stddev"),
        shape_(config),
        type_(config.get<DataType>("dtype")),
        seed_(config.seed) {}

  Inferred infer(const SampleContext& sample) const { return {type_, shape_.at(sample), {}}; }

  NormalTask task(const Inferred&, TaskData& data) const {
    const SampleContext& sample = data.sample();
    return {data.output().data, data.output().num_elements(), seed_, sample.key(),
            mean_.at(sample),   stddev_.at(sample),           type_};
  }

  static int64_t threads_for(const NormalTask& task) { return (task.count + 1) / 2; }

  static void compute(const NormalTask& task) {
    RandomStream random(task.seed, task.key);
    visit_type(task.type, [&](auto zero) {
      using To = decltype(zero);
      To* const numbers = static_cast<To*>(task.out);
      for (int64_t i = 0; i < task.count; i += 2) {
        const double radius = random.next_double();
        const NormalPair pair = normal_pair(radius, random.next_double());
        numbers[i] = scaled_normal<To>(pair.first, task.mean, task.stddev);
        if (i + 1 < task.count)
          numbers[i + 1] = scaled_normal<To>(pair.second, task.mean, task.stddev);
      }
    });
  }

 private:
  Argument<float> mean_, stddev_;
  OutputShape shape_;
  DataType type_;
  uint64_t seed_;
};

DALI_CORE_REGISTER_OPERATOR("random.normal", Normal)

}  // namespace dali_core
