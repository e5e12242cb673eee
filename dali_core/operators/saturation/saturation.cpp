#include "dali_core/operators/saturation/saturation.hpp"

#include "dali_core/operators/color_twist/mix_colors.hpp"

namespace dali_core {

using Saturation = MixColors<SaturationArguments>;

DALI_CORE_REGISTER_OPERATOR("saturation", Saturation)

}  // namespace dali_core
