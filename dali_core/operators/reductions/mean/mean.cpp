#include "dali_core/operators/reductions/reduction_operator.hpp"

namespace dali_core {

class ReduceMean : public SumReduction {
 public:
  explicit ReduceMean(const OperatorConfig& config)
      : SumReduction(config, Fold::kSum, Finish::kMean) {}
};

DALI_CORE_REGISTER_OPERATOR("reductions.mean", ReduceMean)

}  // namespace dali_core
