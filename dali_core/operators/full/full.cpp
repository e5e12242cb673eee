#include "dali_core/fill.hpp"
#include "dali_core/filled_shape.hpp"

namespace dali_core {

class Full : public Operator {
 public:
  explicit Full(const OperatorConfig& config) : shape_(config) {}

  void run(SampleContext& sample) const override {
    const Tensor& value = sample.input(0);
    Tensor& output = shape_.output(sample, value.type);
    const Repeated repeated(value, output);
    visit_type(value.type, [&](auto zero) {
      using T = decltype(zero);
      repeated.write(value.as<T>(), output.as<T>());
    });
  }

 private:
  FilledShape shape_;
};

DALI_CORE_REGISTER_OPERATOR("full", Full)

}  // namespace dali_core
