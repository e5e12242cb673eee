#include "dali_core/operators/brightness_contrast/adjust_image.hpp"

namespace dali_core {

class Brightness : public Operator, public PixelStep {
 public:
  explicit Brightness(const OperatorConfig& config) : arguments_(config) {}

  void run(SampleContext& sample) const override { arguments_.adjust_image(sample); }

 private:
  BrightnessContrastArguments arguments_;
};

DALI_CORE_REGISTER_OPERATOR("brightness", Brightness)

}  // namespace dali_core
