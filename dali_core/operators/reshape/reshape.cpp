// fn.reshape: elements stay where they are; what remains is the arithmetic of shapes, which
// fn.reinterpret shares.
#include "dali_core/kernels/reshape/reshaping.hpp"

namespace dali_core {

class Reshape : public ForwardingOperator {
 public:
  explicit Reshape(const OperatorConfig& config) : reshaping_(config) {
    if (!reshaping_.changes_shape() && !reshaping_.sets_layout())
      throw std::invalid_argument(
          "shape, rel_shape, src_dims or layout must be given (got none). Say what to change.");
  }

  void run(SampleContext& sample) const override {
    const Tensor& input = sample.input(0);
    const Shape shape = reshaping_.shape(sample, input.num_elements());
    if (shape.num_elements() != input.num_elements())
      throw std::invalid_argument("the new shape must have as many elements as the input (got " +
                                  to_string(shape) + " for an input of shape " +
                                  to_string(input.shape) + "). Check the extents.");
    sample.forward(0, input, shape, reshaping_.layout(input.layout, shape));
  }

 private:
  Reshaping reshaping_;
};

DALI_CORE_REGISTER_OPERATOR("reshape", Reshape)

}  // namespace dali_core
