#include "dali_core/operators/hue/hue.hpp"

#include "dali_core/operators/color_twist/mix_colors.hpp"

namespace dali_core {

using Hue = MixColors<HueArguments>;

DALI_CORE_REGISTER_OPERATOR("hue", Hue)

}  // namespace dali_core
