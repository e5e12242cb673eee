#include "dali_core/operators/reductions/reduction_operator.hpp"

namespace dali_core {

class ReduceMax : public ExtremeReduction {
 public:
  explicit ReduceMax(const OperatorConfig& config) : ExtremeReduction(config, Fold::kMax) {}
};

DALI_CORE_REGISTER_OPERATOR("reductions.max", ReduceMax)

}  // namespace dali_core
