#include "dali_core/operators/random_resized_crop/random_resized_crop.hpp"

#include "dali_core/operators/resize/resizing_operator.hpp"

namespace dali_core {

using RandomResizedCrop = ResizingOperator<RandomResizedCropRule>;

DALI_CORE_REGISTER_OPERATOR("random_resized_crop", RandomResizedCrop)

}  // namespace dali_core
