#include "dali_core/operators/color_twist/mix_colors.hpp"

namespace dali_core {

class Saturation : public Operator, public PixelStep {
 public:
  explicit Saturation(const OperatorConfig& config)
      : saturation_(config, "saturation"), output_type_(config) {}

  void run(SampleContext& sample) const override {
    transform_image(sample, hue_and_saturation(0, saturation_.at_or(sample, 1)), output_type_);
  }

 private:
  Argument<float> saturation_;
  ColorOutputType output_type_;
};

DALI_CORE_REGISTER_OPERATOR("saturation", Saturation)

}  // namespace dali_core
