#include "dali_core/operators/equalize/equalize_image.hpp"

namespace dali_core {

class ExperimentalEqualize : public Operator {
 public:
  explicit ExperimentalEqualize(const OperatorConfig&) {}

  void run(SampleContext& sample) const override { equalize_image(sample); }
};

DALI_CORE_REGISTER_OPERATOR("experimental.equalize", ExperimentalEqualize)

}  // namespace dali_core
