#include "dali_core/operators/resize/resizing_on_device.hpp"
#include "dali_core/operators/resize_crop_mirror/resize_crop_mirror.hpp"

namespace dali_core {

using ResizeCropMirrorOnDevice = ResizingOnDevice<ResizeCropMirrorRule>;

DALI_CORE_REGISTER_DEVICE_OPERATOR("resize_crop_mirror", ResizeCropMirrorOnDevice)

}  // namespace dali_core
