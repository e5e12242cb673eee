#include "dali_core/kernels/warp/transform_operator.hpp"

namespace dali_core {

class CropTransform : public TransformOperator {
 public:
  explicit CropTransform(const OperatorConfig& config)
      : TransformOperator(config, {"from_start", "from_end", "to_start", "to_end"}),
        absolute_(config.get<bool>("absolute")) {}

 protected:
  int num_dims(const Values& values, int input_dims) const override {
    int64_t most = 1;
    for (const auto& numbers : values) most = std::max(most, numbers.count());
    return most == 1 && input_dims > 0 ? input_dims : static_cast<int>(most);
  }

  void make(const Values& values, int64_t frame, AffineTransform& transform) const override {
    float from_start[kMaxTransformDims], from_end[kMaxTransformDims];
    float to_start[kMaxTransformDims], to_end[kMaxTransformDims];
    const int ndim = transform.ndim;
    spread(values, 0, frame, ndim, from_start);
    spread(values, 1, frame, ndim, from_end);
    spread(values, 2, frame, ndim, to_start);
    spread(values, 3, frame, ndim, to_end);
    for (int i = 0; i < ndim; ++i) {
      if (absolute_ && from_start[i] > from_end[i]) std::swap(from_start[i], from_end[i]);
      if (absolute_ && to_start[i] > to_end[i]) std::swap(to_start[i], to_end[i]);
      const double scale =
          (double{to_end[i]} - to_start[i]) / (double{from_end[i]} - from_start[i]);
      transform.matrix[i][i] = scale;
      transform.translation(i) = to_start[i] - scale * from_start[i];
    }
  }

 private:
  bool absolute_;
};

DALI_CORE_REGISTER_OPERATOR("transforms.crop", CropTransform)

}  // namespace dali_core
