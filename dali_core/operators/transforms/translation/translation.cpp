#include "dali_core/kernels/warp/transform_operator.hpp"

namespace dali_core {

class Translation : public TransformOperator {
 public:
  explicit Translation(const OperatorConfig& config) : TransformOperator(config, {"offset"}) {}

 protected:
  int num_dims(const Values& values, int) const override {
    return static_cast<int>(values[0].count());
  }

  void make(const Values& values, int64_t frame, AffineTransform& transform) const override {
    for (int i = 0; i < transform.ndim; ++i) transform.translation(i) = values[0].of(frame)[i];
  }
};

DALI_CORE_REGISTER_OPERATOR("transforms.translation", Translation)

}  // namespace dali_core
