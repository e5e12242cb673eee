#include "dali_core/kernels/fill/device_fill.hpp"
#include "dali_core/kernels/fill/filled_shape.hpp"
#include "dali_core/kernels/tasks/task_operator.hpp"

namespace dali_core {

class Full : public TaskOperator<Full> {
 public:
  using Tasks = Gathers;

  explicit Full(const OperatorConfig& config) : shape_(config) {}

  struct Result : Inferred {
    Repeated repeated;
  };

  Result infer(const SampleContext& sample) const {
    const Tensor& value = sample.input(0);
    const Shape shape = shape_.shape(sample);
    // As in the reference, a scalar is the first element.
    const bool is_first = shape.ndim == 0 && value.num_elements() > 0;
    return {{value.type, shape, shape_.layout()}, Repeated(is_first ? shape : value.shape, shape)};
  }

  void run(SampleContext& sample) const override {
    const Tensor& value = sample.input(0);
    const Result result = infer(sample);
    result.repeated.write(value.data, sample.output(result)->data, size_of(value.type));
  }

  void add(const Result& result, TaskData& data, Tasks& tasks) const {
    tasks.add(repeated_on_device(result.repeated, data.input().data, data.output()));
  }

 private:
  FilledShape shape_;
};

DALI_CORE_REGISTER_OPERATOR("full", Full)

}  // namespace dali_core
