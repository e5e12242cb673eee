// fn.image_tokens: the size and the number of tokens of an image.
#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "dali_core/operator.hpp"
#include "dali_core/sizes.hpp"

namespace dali_core {

class ImageTokens : public Operator {
 public:
  explicit ImageTokens(const OperatorConfig& config)
      : factor_(config.get<int64_t>("patch") * config.get<int64_t>("merge")),
        min_pixels_(config.get<int64_t>("min_pixels")),
        max_pixels_(config.get<int64_t>("max_pixels")) {
    if (min_pixels_ > max_pixels_)
      throw std::invalid_argument("min_pixels must be at most max_pixels (got " +
                                  std::to_string(min_pixels_) + " and " +
                                  std::to_string(max_pixels_) + "). Exchange them.");
  }

  void run(SampleContext& sample) const override {
    const Tensor& input = sample.input(0);
    if (input.shape.ndim != 1 || input.shape[0] < 2)
      throw std::invalid_argument(
          "the input must be the shape of an image, height and width first (got a tensor of "
          "shape " +
          to_string(input.shape) + "). Pass the output of fn.peek_image_shape.");
    const int64_t height = side_of(input, 0), width = side_of(input, 1);
    if (std::max(height, width) > kMaxAspectRatio * std::min(height, width))
      throw std::invalid_argument("the longer side must be at most " +
                                  std::to_string(kMaxAspectRatio) + " times the shorter one (got " +
                                  std::to_string(height) + " x " + std::to_string(width) +
                                  "). Leave such images out.");
    int64_t rows = nearest(height), columns = nearest(width);
    const double pixels = static_cast<double>(height) * static_cast<double>(width);
    const int64_t area = rows * factor_ * columns * factor_;
    if (area > max_pixels_) {
      const double scale = std::sqrt(pixels / static_cast<double>(max_pixels_));
      rows = std::max<int64_t>(1, below(static_cast<double>(height) / scale));
      columns = std::max<int64_t>(1, below(static_cast<double>(width) / scale));
    } else if (area < min_pixels_) {
      const double scale = std::sqrt(static_cast<double>(min_pixels_) / pixels);
      rows = above(static_cast<double>(height) * scale);
      columns = above(static_cast<double>(width) * scale);
    }
    int32_t* const size = sample.output(0, DataType::kInt32, {2}).as<int32_t>();
    size[0] = in_32_bits(rows * factor_);
    size[1] = in_32_bits(columns * factor_);
    // A token is a square of `factor_` pixels.
    *sample.output(1, DataType::kInt32, {}).as<int32_t>() = in_32_bits(rows * columns);
  }

 private:
  static constexpr int64_t kMaxAspectRatio = 200;
  // So that areas fit 64 bits, also after rounding.
  static constexpr int64_t kMaxSide = int64_t{1} << 30;

  static int64_t side_of(const Tensor& shape, int axis) {
    return visit_type(shape.type, [&](auto zero) {
      return checked_between(convert<int64_t>(shape.as<decltype(zero)>()[axis]), 1, kMaxSide,
                             "the sides of an image");
    });
  }

  static int32_t in_32_bits(int64_t number) {
    return static_cast<int32_t>(checked_between(number, 0, INT32_MAX, "the size of the image"));
  }

  int64_t nearest(int64_t side) const {
    // Rounds half to even, as Python does.
    const double factor = static_cast<double>(factor_);
    return static_cast<int64_t>(std::nearbyint(static_cast<double>(side) / factor));
  }
  int64_t below(double side) const {
    return static_cast<int64_t>(std::floor(side / static_cast<double>(factor_)));
  }
  int64_t above(double side) const {
    return static_cast<int64_t>(std::ceil(side / static_cast<double>(factor_)));
  }

  int64_t factor_, min_pixels_, max_pixels_;
};

DALI_CORE_REGISTER_OPERATOR("image_tokens", ImageTokens)

}  // namespace dali_core
