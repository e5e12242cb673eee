#include "dali_core/kernels/warp/transform_operator.hpp"

namespace dali_core {

class Scale : public TransformOperator {
 public:
  explicit Scale(const OperatorConfig& config)
      : TransformOperator(config, {"scale", "center"}), ndim_(config.get_or<int>("ndim", 0)) {}

 protected:
  int num_dims(const Values& values, int input_dims) const override {
    const int count = static_cast<int>(values[0].count());
    if (count != 1) return count;
    return input_dims > 0 ? input_dims : ndim_ > 0 ? ndim_ : 1;
  }

  void make(const Values& values, int64_t frame, AffineTransform& transform) const override {
    float factors[kMaxTransformDims];
    spread(values, 0, frame, transform.ndim, factors);
    for (int i = 0; i < transform.ndim; ++i) transform.matrix[i][i] = factors[i];
    move_center(values, 1, frame, transform);
  }

 private:
  int ndim_;
};

DALI_CORE_REGISTER_OPERATOR("transforms.scale", Scale)

}  // namespace dali_core
