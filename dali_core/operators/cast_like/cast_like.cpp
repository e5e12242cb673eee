#include "dali_core/kernels/convert/cast_operator.hpp"

namespace dali_core {

class CastLike : public CastOperator<CastLike> {
 public:
  explicit CastLike(const OperatorConfig&) {}

  Inferred infer(const SampleContext& sample) const {
    return cast_to(sample.input(1).type, sample.input(0));
  }
};

DALI_CORE_REGISTER_OPERATOR("cast_like", CastLike)

}  // namespace dali_core
