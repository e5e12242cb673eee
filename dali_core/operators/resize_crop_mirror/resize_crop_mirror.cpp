#include "dali_core/operators/resize_crop_mirror/resize_crop_mirror.hpp"

#include "dali_core/operators/resize/resizing_operator.hpp"

namespace dali_core {

using ResizeCropMirror = ResizingOperator<ResizeCropMirrorRule>;

DALI_CORE_REGISTER_OPERATOR("resize_crop_mirror", ResizeCropMirror)

}  // namespace dali_core
