#include "dali_core/operators/reductions/reduction_operator.hpp"

namespace dali_core {

class ReduceStdDev : public DeviationReduction {
 public:
  explicit ReduceStdDev(const OperatorConfig& config) : DeviationReduction(config, Finish::kRoot) {}
};

DALI_CORE_REGISTER_OPERATOR("reductions.std_dev", ReduceStdDev)

}  // namespace dali_core
