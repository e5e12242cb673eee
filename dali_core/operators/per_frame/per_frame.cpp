#include "dali_core/operators/per_frame/per_frame.hpp"

#include "dali_core/operator.hpp"

namespace dali_core {

class PerFrame : public Operator {
 public:
  explicit PerFrame(const OperatorConfig& config)
      : replace_(config.get_or<int64_t>("replace", 0) != 0) {}

  void run(SampleContext& sample) const override {
    const Tensor& input = sample.input(0);
    if (input.shape.ndim == 0)
      throw std::invalid_argument(
          "the input must have a dimension of frames (got a scalar). Reshape it.");
    if (!input.layout.empty() && input.layout[0] != 'F' && !replace_)
      throw std::invalid_argument("the input's layout must start with F (got \"" +
                                  std::string(input.layout.c_str()) +
                                  "\"). Set replace=True to replace its first letter.");
    const Layout layout = sequence_layout(input.layout, input.shape.ndim);
    sample.forward(0, input).layout = layout;
  }

 private:
  bool replace_;
};

DALI_CORE_REGISTER_OPERATOR("per_frame", PerFrame)

}  // namespace dali_core
