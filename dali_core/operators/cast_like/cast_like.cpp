#include "dali_core/operators/cast_like/cast_like.hpp"

#include "dali_core/operator.hpp"
#include "dali_core/operators/cast/cast_tensor.hpp"

namespace dali_core {

class CastLike : public Operator {
 public:
  explicit CastLike(const OperatorConfig&) {}

  void run(SampleContext& sample) const override { cast_tensor(sample, sample.input(1).type); }
};

DALI_CORE_REGISTER_OPERATOR("cast_like", CastLike)

}  // namespace dali_core
