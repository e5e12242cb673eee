#include "dali_core/operators/color_space_conversion/color_space_conversion.hpp"

#include "dali_core/operators/color_twist/mix_colors.hpp"

namespace dali_core {

class ColorSpaceConversion : public Operator, public PixelStep {
 public:
  explicit ColorSpaceConversion(const OperatorConfig& config) : arguments_(config) {}

  void run(SampleContext& sample) const override {
    const Tensor& image = sample.input(0);
    const Layout layout = arguments_.checked_layout(image);
    if (arguments_.stays()) {
      sample.forward(0, image).layout = layout;
      return;
    }
    Tensor& output = sample.output(0, DataType::kUInt8, arguments_.shape(image), layout);
    mix_colors({image.data, output.data, image.type, output.type, arguments_.input_channels(),
                arguments_.output_channels(), image.num_elements() / arguments_.input_channels()},
               arguments_.matrix());
  }

 private:
  ColorSpaceArguments arguments_;
};

DALI_CORE_REGISTER_OPERATOR("color_space_conversion", ColorSpaceConversion)

}  // namespace dali_core
