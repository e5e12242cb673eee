#include "dali_core/fill.hpp"
#include "dali_core/filled_shape.hpp"

namespace dali_core {

class Full : public Operator {
 public:
  explicit Full(const OperatorConfig& config) : shape_(config) {}

  void run(SampleContext& sample) const override {
    const Tensor& value = sample.input(0);
    Tensor& output = shape_.output(sample, value.type);
    Repeated(value, output).write(value.data, output.data, size_of(value.type));
  }

 private:
  FilledShape shape_;
};

DALI_CORE_REGISTER_OPERATOR("full", Full)

}  // namespace dali_core
