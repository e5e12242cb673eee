#include "dali_core/operators/reductions/reduction_operator.hpp"

namespace dali_core {

class ReduceMeanSquare : public SumReduction {
 public:
  explicit ReduceMeanSquare(const OperatorConfig& config)
      : SumReduction(config, Fold::kSquares, Finish::kMean) {}
};

DALI_CORE_REGISTER_OPERATOR("reductions.mean_square", ReduceMeanSquare)

}  // namespace dali_core
