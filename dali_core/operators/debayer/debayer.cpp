// fn.debayer: colours of images that were taken through a Bayer filter.
#include "dali_core/kernels/debayer/debayer.hpp"

#include <string>
#include <vector>

#include "dali_core/each_frame.hpp"
#include "dali_core/operator.hpp"

namespace dali_core {
namespace {

DebayerAlgorithm algorithm_of(const std::string& name) {
  if (name == "edgeaware_ocv") return DebayerAlgorithm::kEdgeAware;
  if (name == "vng_ocv") return DebayerAlgorithm::kGradients;
  return name == "gray_ocv" ? DebayerAlgorithm::kGray : DebayerAlgorithm::kBilinear;
}

}  // namespace

class Debayer : public Operator, public EachFrame {
 public:
  explicit Debayer(const OperatorConfig& config)
      : algorithm_(algorithm_of(config.get<std::string>("algorithm"))),
        blue_position_(config, "blue_position") {}

  void run(SampleContext& sample) const override {
    const Tensor& image = sample.input(0);
    check(image);
    const int64_t height = image.shape[0], width = image.shape[1];
    const int64_t channels = algorithm_ == DebayerAlgorithm::kGray ? 1 : 3;
    Tensor& output = sample.output(0, image.type, {height, width, channels}, "HWC");
    std::vector<int64_t> storage;
    const std::vector<int64_t>& position = blue_position_.at(sample, storage);
    // Positions are in the tile that begins at the second row and column.
    const BluePixels blue{static_cast<int>(1 - position.front()),
                          static_cast<int>(1 - position.back())};
    if (image.type == DataType::kUInt8)
      debayer(image.as<uint8_t>(), height, width, blue, algorithm_, output.as<uint8_t>());
    else
      debayer(image.as<uint16_t>(), height, width, blue, algorithm_, output.as<uint16_t>());
  }

 private:
  void check(const Tensor& image) const {
    const Shape& shape = image.shape;
    const bool has_layout =
        image.layout.empty() || image.layout == Layout(shape.ndim == 2 ? "HW" : "HWC");
    if (!(shape.ndim == 2 || (shape.ndim == 3 && shape[2] == 1)) || !has_layout)
      throw std::invalid_argument(
          "the input must be an image of one channel with layout \"HW\", \"HWC\", \"FHW\" or "
          "\"FHWC\" (got shape " +
          to_string(shape) + " with layout \"" + image.layout.c_str() +
          "\"). Set the layout of sequences.");
    if (shape[0] % 2 != 0 || shape[1] % 2 != 0)
      throw std::invalid_argument("height and width must be even (got " + to_string(shape) +
                                  "). Crop the image.");
    const bool is_wide = image.type == DataType::kUInt16;
    if (image.type != DataType::kUInt8 && (!is_wide || algorithm_ == DebayerAlgorithm::kGradients))
      throw std::invalid_argument(
          std::string("the image must have type uint8") +
          (algorithm_ == DebayerAlgorithm::kGradients ? " for vng_ocv" : " or uint16") + " (got " +
          name_of(image.type) + "). Cast it.");
  }

  DebayerAlgorithm algorithm_;
  ListArgument<int64_t> blue_position_;
};

DALI_CORE_REGISTER_OPERATOR("debayer", Debayer)

}  // namespace dali_core
