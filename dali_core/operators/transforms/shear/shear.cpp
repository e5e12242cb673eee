#include <cmath>

#include "dali_core/kernels/warp/transform_operator.hpp"

namespace dali_core {

class Shear : public TransformOperator {
 public:
  explicit Shear(const OperatorConfig& config)
      : TransformOperator(config, {"shear", "angles", "center"}) {}

 protected:
  int num_dims(const Values& values, int) const override {
    const int64_t count = values[given()].count();
    if (count != 2 && count != 6)
      throw std::invalid_argument(argument(given()).name() +
                                  " must be 2 numbers for two dimensions or 6 for three (got " +
                                  std::to_string(count) + "). Pass one for each pair of axes.");
    return count == 2 ? 2 : 3;
  }

  void make(const Values& values, int64_t frame, AffineTransform& transform) const override {
    const float* numbers = values[given()].of(frame);
    for (int row = 0; row < transform.ndim; ++row)
      for (int column = 0; column < transform.ndim; ++column)
        if (row != column) transform.matrix[row][column] = factor(*numbers++);
    move_center(values, 2, frame, transform);
  }

 private:
  int given() const { return argument(0).given() ? 0 : 1; }

  double factor(float number) const {
    if (argument(0).given()) return number;
    return std::tan(radians(number));
  }
};

DALI_CORE_REGISTER_OPERATOR("transforms.shear", Shear)

}  // namespace dali_core
