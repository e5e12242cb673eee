#include "dali_core/operators/reductions/reduction_operator.hpp"

namespace dali_core {

class ReduceMin : public ExtremeReduction {
 public:
  explicit ReduceMin(const OperatorConfig& config) : ExtremeReduction(config, Fold::kMin) {}
};

DALI_CORE_REGISTER_OPERATOR("reductions.min", ReduceMin)

}  // namespace dali_core
