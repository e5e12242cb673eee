#include "dali_core/operators/color_twist/color_twist.hpp"

#include "dali_core/operators/color_twist/mix_colors.hpp"

namespace dali_core {

class ColorTwist : public Operator, public PixelStep {
 public:
  explicit ColorTwist(const OperatorConfig& config)
      : brightness_(config, "brightness"),
        contrast_(config, "contrast"),
        hue_(config, "hue"),
        saturation_(config, "saturation"),
        output_type_(config) {}

  void run(SampleContext& sample) const override {
    const double center = color_contrast_center(sample.input(0).type);
    transform_image(sample,
                    color_twist(hue_.at_or(sample, 0), saturation_.at_or(sample, 1),
                                brightness_.at_or(sample, 1), contrast_.at_or(sample, 1), center),
                    output_type_);
  }

 private:
  Argument<float> brightness_, contrast_, hue_, saturation_;
  ColorOutputType output_type_;
};

DALI_CORE_REGISTER_OPERATOR("color_twist", ColorTwist)

}  // namespace dali_core
