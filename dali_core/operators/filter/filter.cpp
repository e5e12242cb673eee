#include "dali_core/kernels/convolution/apply_filter.hpp"

namespace dali_core {

DALI_CORE_REGISTER_OPERATOR("filter", FilterOperator)

}  // namespace dali_core
