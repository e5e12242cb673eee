// fn.shapes: an extent as a number of the output's type, saturated, is convert() of
// dali_core/convert.hpp.
#include "dali_core/convert.hpp"
#include "dali_core/operator.hpp"

namespace dali_core {

class Shapes : public Operator {
 public:
  explicit Shapes(const OperatorConfig& config)
      : type_(config.get_or<DataType>("dtype", config.get_or<DataType>("type", DataType::kInt64))) {
  }

  void run(SampleContext& sample) const override {
    const Shape& shape = sample.input(0).shape;
    Tensor& output = sample.output(0, type_, Shape{shape.ndim});
    visit_type(type_, [&](auto zero) {
      using To = decltype(zero);
      for (int i = 0; i < shape.ndim; ++i) output.as<To>()[i] = convert<To>(shape[i]);
    });
  }

 private:
  DataType type_;
};

DALI_CORE_REGISTER_OPERATOR("shapes", Shapes)

}  // namespace dali_core
