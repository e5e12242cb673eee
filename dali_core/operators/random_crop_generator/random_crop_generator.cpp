#include <limits>

#include "dali_core/kernels/window/random_crop.hpp"
#include "dali_core/operator.hpp"

namespace dali_core {
namespace {

// Height and width, from integers of any type.
std::pair<int64_t, int64_t> image_extents(const Tensor& shape) {
  if (shape.shape.ndim != 1 || shape.shape[0] < 2 || shape.shape[0] > 3)
    throw std::invalid_argument(
        "the input must be (height, width) or (height, width, channels) (got a tensor of shape " +
        to_string(shape.shape) + "). Pass shapes of images.");
  return visit_type(shape.type, [&](auto zero) -> std::pair<int64_t, int64_t> {
    using From = decltype(zero);
    if constexpr (is_floating<From> || std::is_same_v<From, bool>) {
      throw std::invalid_argument("the input must have an integer type (got " +
                                  std::string(name_of(shape.type)) + "). Cast it to INT32.");
    } else {
      const From* const extents = shape.as<From>();
      return {convert<int64_t>(extents[0]), convert<int64_t>(extents[1])};
    }
  });
}

}  // namespace

class RandomCropGenerator : public Operator {
 public:
  explicit RandomCropGenerator(const OperatorConfig& config)
      : parameters_(config), seed_(config.seed) {}

  void run(SampleContext& sample) const override {
    const auto [height, width] = image_extents(sample.input(0));
    constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
    if (height > kMost || width > kMost)
      throw std::invalid_argument("extents must be below 2**31 (got " + std::to_string(height) +
                                  " x " + std::to_string(width) + "). Pass shapes of images.");
    RandomStream random = sample.random(seed_);
    const CropWindow window = random_crop_window(height, width, parameters_, random);
    write(sample.output(0, DataType::kInt32, Shape{2}), window.y, window.x);
    write(sample.output(1, DataType::kInt32, Shape{2}), window.height, window.width);
  }

 private:
  static void write(Tensor& output, int64_t first, int64_t second) {
    output.as<int32_t>()[0] = static_cast<int32_t>(first);
    output.as<int32_t>()[1] = static_cast<int32_t>(second);
  }

  RandomCropParameters parameters_;
  uint64_t seed_;
};

DALI_CORE_REGISTER_OPERATOR("random_crop_generator", RandomCropGenerator)

}  // namespace dali_core
