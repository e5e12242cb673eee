#include "dali_core/operator.hpp"
#include "dali_core/operators/resize/resize_rule.hpp"
#include "dali_core/operators/resize/resizing_operator.hpp"

namespace dali_core {

class Resize : public ResizingOperator<ResizeRule> {
 public:
  explicit Resize(const OperatorConfig& config)
      : ResizingOperator(config), save_shape_(config.get_or<bool>("save_attrs", false)) {}

  void run(SampleContext& sample) const override {
    ResizingOperator::run(sample);
    if (!save_shape_) return;
    const ResizeView view(sample.input(0), ResizeRule::kHasVolumes);
    Tensor& shape = sample.output(1, DataType::kInt32, {view.num_axes});
    for (int i = 0; i < view.num_axes; ++i)
      shape.as<int32_t>()[i] = static_cast<int32_t>(view.extent[i]);
  }

 private:
  bool save_shape_;
};

DALI_CORE_REGISTER_OPERATOR("resize", Resize)

}  // namespace dali_core
