#include "dali_core/operators/brightness_contrast/adjust_image.hpp"

namespace dali_core {

class BrightnessContrastOperator : public Operator, public PixelStep {
 public:
  explicit BrightnessContrastOperator(const OperatorConfig& config) : arguments_(config) {}

  void run(SampleContext& sample) const override { arguments_.adjust_image(sample); }

 private:
  BrightnessContrastArguments arguments_;
};

DALI_CORE_REGISTER_OPERATOR("brightness_contrast", BrightnessContrastOperator)

}  // namespace dali_core
