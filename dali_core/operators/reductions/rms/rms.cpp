#include "dali_core/operators/reductions/reduction_operator.hpp"

namespace dali_core {

class ReduceRms : public SumReduction {
 public:
  explicit ReduceRms(const OperatorConfig& config)
      : SumReduction(config, Fold::kSquares, Finish::kRoot) {}
};

DALI_CORE_REGISTER_OPERATOR("reductions.rms", ReduceRms)

}  // namespace dali_core
