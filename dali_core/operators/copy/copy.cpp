#include <cstring>

#include "dali_core/kernels/tasks/task_operator.hpp"

namespace dali_core {

class Copy : public TaskOperator<Copy> {
 public:
  using Tasks = RowCopies;

  explicit Copy(const OperatorConfig&) {}

  Inferred infer(const SampleContext& sample) const {
    const Tensor& input = sample.input(0);
    return {input.type, input.shape, input.layout};
  }

  void run(SampleContext& sample) const override {
    const Tensor& input = sample.input(0);
    Tensor* const output = sample.output(infer(sample));
    if (input.num_bytes() > 0)
      std::memcpy(output->data, input.data, static_cast<size_t>(input.num_bytes()));
  }

  void add(const Inferred&, TaskData& data, Tasks& tasks) const {
    tasks.add(data.input().data, data.output().data, data.output().num_bytes());
  }
};

DALI_CORE_REGISTER_OPERATOR("copy", Copy)

}  // namespace dali_core
