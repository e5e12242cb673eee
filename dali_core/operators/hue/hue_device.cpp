#include "dali_core/operators/color_twist/mix_colors_on_device.hpp"
#include "dali_core/operators/hue/hue.hpp"

namespace dali_core {

using HueOnDevice = MixColorsOnDevice<HueArguments>;

DALI_CORE_REGISTER_DEVICE_OPERATOR("hue", HueOnDevice)

}  // namespace dali_core
