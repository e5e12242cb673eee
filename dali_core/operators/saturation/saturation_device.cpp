#include "dali_core/operators/color_twist/mix_colors_on_device.hpp"
#include "dali_core/operators/saturation/saturation.hpp"

namespace dali_core {

using SaturationOnDevice = MixColorsOnDevice<SaturationArguments>;

DALI_CORE_REGISTER_DEVICE_OPERATOR("saturation", SaturationOnDevice)

}  // namespace dali_core
