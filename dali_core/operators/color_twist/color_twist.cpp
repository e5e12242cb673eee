#include "dali_core/operators/color_twist/color_twist.hpp"

#include "dali_core/operators/color_twist/mix_colors.hpp"

namespace dali_core {

using ColorTwist = MixColors<ColorTwistArguments>;

DALI_CORE_REGISTER_OPERATOR("color_twist", ColorTwist)

}  // namespace dali_core
