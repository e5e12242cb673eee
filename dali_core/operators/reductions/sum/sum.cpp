#include "dali_core/operators/reductions/reduction_operator.hpp"

namespace dali_core {

class ReduceSum : public SumReduction {
 public:
  explicit ReduceSum(const OperatorConfig& config)
      : SumReduction(config, Fold::kSum, Finish::kSum) {}
};

DALI_CORE_REGISTER_OPERATOR("reductions.sum", ReduceSum)

}  // namespace dali_core
