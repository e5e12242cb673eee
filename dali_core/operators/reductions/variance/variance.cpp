#include "dali_core/operators/reductions/reduction_operator.hpp"

namespace dali_core {

class ReduceVariance : public DeviationReduction {
 public:
  explicit ReduceVariance(const OperatorConfig& config)
      : DeviationReduction(config, Finish::kMean) {}
};

DALI_CORE_REGISTER_OPERATOR("reductions.variance", ReduceVariance)

}  // namespace dali_core
