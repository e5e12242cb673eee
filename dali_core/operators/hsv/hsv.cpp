#include "dali_core/operators/hsv/hsv.hpp"

#include "dali_core/operators/color_twist/mix_colors.hpp"

namespace dali_core {

using Hsv = MixColors<HsvArguments>;

DALI_CORE_REGISTER_OPERATOR("hsv", Hsv)

}  // namespace dali_core
