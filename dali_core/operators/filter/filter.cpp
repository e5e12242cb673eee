#include "dali_core/operators/filter/apply_filter.hpp"

namespace dali_core {

DALI_CORE_REGISTER_OPERATOR("filter", FilterOperator)

}  // namespace dali_core
