#include "dali_core/operators/random_resized_crop/random_resized_crop.hpp"
#include "dali_core/operators/resize/resizing_on_device.hpp"

namespace dali_core {

using RandomResizedCropOnDevice = ResizingOnDevice<RandomResizedCropRule>;

DALI_CORE_REGISTER_DEVICE_OPERATOR("random_resized_crop", RandomResizedCropOnDevice)

}  // namespace dali_core
