#include "dali_core/kernels/warp/transform_operator.hpp"

namespace dali_core {

class Rotation : public TransformOperator {
 public:
  explicit Rotation(const OperatorConfig& config)
      : TransformOperator(config, {"angle", "axis", "center"}) {}

 protected:
  int num_dims(const Values&, int) const override { return argument(1).given() ? 3 : 2; }

  void make(const Values& values, int64_t frame, AffineTransform& transform) const override {
    if (values[0].count() != 1)
      throw std::invalid_argument("angle must be one number (got shape " +
                                  to_string(values[0].shape()) + "). Pass a scalar.");
    const double angle = radians(values[0].of(frame)[0]);
    if (argument(1).given()) {
      float axis[3];
      spread(values, 1, frame, 3, axis);
      transform = rotation(angle, axis);
    } else {
      transform = rotation(angle);
    }
    move_center(values, 2, frame, transform);
  }
};

DALI_CORE_REGISTER_OPERATOR("transforms.rotation", Rotation)

}  // namespace dali_core
