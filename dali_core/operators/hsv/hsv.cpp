#include "dali_core/operators/hsv/hsv.hpp"

#include "dali_core/operators/color_twist/mix_colors.hpp"

namespace dali_core {

class Hsv : public Operator, public PixelStep {
 public:
  explicit Hsv(const OperatorConfig& config)
      : hue_(config, "hue"),
        saturation_(config, "saturation"),
        value_(config, "value"),
        output_type_(config) {}

  void run(SampleContext& sample) const override {
    transform_image(
        sample, hsv(hue_.at_or(sample, 0), saturation_.at_or(sample, 1), value_.at_or(sample, 1)),
        output_type_);
  }

 private:
  Argument<float> hue_, saturation_, value_;
  ColorOutputType output_type_;
};

DALI_CORE_REGISTER_OPERATOR("hsv", Hsv)

}  // namespace dali_core
