#include "dali_core/operators/color_twist/color_twist.hpp"
#include "dali_core/operators/color_twist/mix_colors_on_device.hpp"

namespace dali_core {

using ColorTwistOnDevice = MixColorsOnDevice<ColorTwistArguments>;

DALI_CORE_REGISTER_DEVICE_OPERATOR("color_twist", ColorTwistOnDevice)

}  // namespace dali_core
