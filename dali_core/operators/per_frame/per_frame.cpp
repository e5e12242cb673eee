// fn.per_frame changes the layout alone: there is no rule for elements.
#include "dali_core/operator.hpp"
#include "dali_core/types.hpp"

namespace dali_core {

// The layout of a sequence of `ndim` dimensions that had this layout, or none.
inline Layout sequence_layout(Layout layout, int ndim) {
  for (int i = layout.ndim(); i < ndim; ++i) layout.letters[i] = '*';
  layout.letters[0] = 'F';
  return layout;
}

class PerFrame : public ForwardingOperator {
 public:
  explicit PerFrame(const OperatorConfig& config) : replace_(config.get<bool>("replace")) {}

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
