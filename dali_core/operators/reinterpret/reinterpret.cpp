#include "dali_core/operators/reinterpret/reinterpret.hpp"

#include "dali_core/device_forwarding.hpp"

namespace dali_core {

class Reinterpret : public Operator {
 public:
  explicit Reinterpret(const OperatorConfig& config)
      : reshaping_(config), type_(config.get_or<DataType>("dtype", DataType::kNone)) {
    if (!reshaping_.changes_shape() && !reshaping_.sets_layout() && !config.has("dtype"))
      throw std::invalid_argument(
          "dtype, shape, rel_shape, src_dims or layout must be given (got none). Say what to "
          "change.");
    if (config.has("dtype") && size_of(type_) == 0)
      throw std::invalid_argument("dtype must be a type of numbers (got number " +
                                  std::to_string(static_cast<int>(type_)) +
                                  "). Use a type such as types.FLOAT.");
  }

  void run(SampleContext& sample) const override {
    const Tensor& input = sample.input(0);
    const DataType type = type_ == DataType::kNone ? input.type : type_;
    Shape shape = reshaping_.shape(sample, input.num_bytes() / size_of(type));
    if (!reshaping_.sets_extents()) shape = reinterpreted(shape, input.type, type);
    if (checked_product(shape.num_elements(), size_of(type)) != input.num_bytes())
      throw std::invalid_argument("the output must have as many bytes as the input (got shape " +
                                  to_string(shape) + " of " + name_of(type) + " for " +
                                  to_string(input.shape) + " of " + name_of(input.type) +
                                  "). Check shape and dtype.");
    const Layout layout = reshaping_.layout(input.layout, shape);
    sample.forward(0, input, shape, layout).type = type;
  }

 private:
  Reshaping reshaping_;
  DataType type_;
};

DALI_CORE_REGISTER_OPERATOR("reinterpret", Reinterpret)
DALI_CORE_REGISTER_FORWARDING_OPERATOR("reinterpret", Reinterpret)

}  // namespace dali_core
