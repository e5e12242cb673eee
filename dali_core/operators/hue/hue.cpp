#include "dali_core/operators/color_twist/mix_colors.hpp"

namespace dali_core {

class Hue : public Operator, public PixelStep {
 public:
  explicit Hue(const OperatorConfig& config) : hue_(config, "hue"), output_type_(config) {}

  void run(SampleContext& sample) const override {
    transform_image(sample, hue_and_saturation(hue_.at_or(sample, 0), 1), output_type_);
  }

 private:
  Argument<float> hue_;
  ColorOutputType output_type_;
};

DALI_CORE_REGISTER_OPERATOR("hue", Hue)

}  // namespace dali_core
