#include "dali_core/operators/color_twist/mix_colors_on_device.hpp"
#include "dali_core/operators/hsv/hsv.hpp"

namespace dali_core {

using HsvOnDevice = MixColorsOnDevice<HsvArguments>;

DALI_CORE_REGISTER_DEVICE_OPERATOR("hsv", HsvOnDevice)

}  // namespace dali_core
