#include <string>

#include "dali_core/operator.hpp"

namespace dali_core {

class CoordinateFlip : public Operator {
 public:
  explicit CoordinateFlip(const OperatorConfig& config)
      : flip_{{config, "flip_x"}, {config, "flip_y"}, {config, "flip_z"}},
        center_{{config, "center_x"}, {config, "center_y"}, {config, "center_z"}},
        layout_(config.get_or<std::string>("layout", "")) {
    if (layout_.empty()) layout_ = kLetters;
    for (size_t i = 0; i < layout_.size(); ++i)
      if (std::string(kLetters).find(layout_[i]) == std::string::npos ||
          layout_.find(layout_[i]) != i)
        throw std::invalid_argument("layout must have the letters x, y and z once each (got \"" +
                                    layout_ + "\"). Name the coordinates, such as \"xy\".");
  }

  void run(SampleContext& sample) const override {
    const Tensor& points = sample.input(0);
    const auto most = static_cast<int64_t>(layout_.size());
    if (points.type != DataType::kFloat || points.shape.ndim != 2 || points.shape[1] > most)
      throw std::invalid_argument("points must be float32 of shape (N, D), with D up to " +
                                  std::to_string(most) + " (got " + name_of(points.type) +
                                  " of shape " + to_string(points.shape) +
                                  "). Cast or reshape them, or name all coordinates in layout.");
    const int64_t ndim = points.shape[1];
    float factor[3] = {}, offset[3] = {};
    for (int64_t i = 0; i < ndim; ++i) {
      const size_t axis = std::string(kLetters).find(layout_[static_cast<size_t>(i)]);
      const bool is_flipped = flip_[axis].at(sample) != 0;
      factor[i] = is_flipped ? -1.0f : 1.0f;
      offset[i] = is_flipped ? 2 * center_[axis].at(sample) : 0.0f;
    }
    const float* in = points.as<float>();
    float* out = sample.output(0, points.type, points.shape, points.layout).as<float>();
    for (int64_t row = 0; row < points.shape[0]; ++row)
      for (int64_t i = 0; i < ndim; ++i) *out++ = offset[i] + factor[i] * *in++;
  }

 private:
  static constexpr const char* kLetters = "xyz";

  Argument<int> flip_[3];
  Argument<float> center_[3];
  std::string layout_;
};

DALI_CORE_REGISTER_OPERATOR("coord_flip", CoordinateFlip)

}  // namespace dali_core
