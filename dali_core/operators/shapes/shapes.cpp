#include "dali_core/operators/shapes/shapes.hpp"

#include "dali_core/operator.hpp"

namespace dali_core {

class Shapes : public Operator {
 public:
  explicit Shapes(const OperatorConfig& config)
      : type_(config.get_or<DataType>("dtype", config.get_or<DataType>("type", DataType::kInt64))) {
    switch (type_) {
      case DataType::kInt64:
      case DataType::kUInt64:
      case DataType::kInt32:
      case DataType::kUInt32:
      case DataType::kFloat:
      case DataType::kFloat64:
        break;
      default:
        throw std::invalid_argument(
            "dtype must be INT64, UINT64, INT32, UINT32, FLOAT or FLOAT64 (got " +
            std::string(name_of(type_)) + "). Use fn.cast for other types.");
    }
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
