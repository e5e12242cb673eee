// fn.cutmix: boxes of images that are replaced by those of other images.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "dali_core/geometry.hpp"
#include "dali_core/kernels/batch_mixing/batch_mixing.hpp"

namespace dali_core {

// Where a box begins and ends along a dimension.
struct BoxSide {
  int64_t begin = 0;
  int64_t end = 0;

  int64_t extent() const { return end - begin; }
};

// Of the given part of an extent around a random centre, clipped. Yun et al. 2019, section 3.1 and
// their program, which halves the side in integers.
inline BoxSide random_box_side(int64_t extent, double part, RandomStream& random) {
  if (extent <= 0) return {};
  const auto centre = static_cast<int64_t>(random.next_double() * static_cast<double>(extent));
  const int64_t half = static_cast<int64_t>(static_cast<double>(extent) * part) / 2;
  return {std::max<int64_t>(centre - half, 0), std::min(centre + half, extent)};
}

class Cutmix : public Operator {
 public:
  explicit Cutmix(const OperatorConfig& config) : mixing_(config) {}

  bool reads_batch() const override { return true; }

  void run(SampleContext& sample) const override {
    const int partner = mixing_.partner(sample);
    const Tensor& image = sample.input(0);
    const Tensor& other = BatchMixing::image_of(sample, partner);
    const int height_axis = height_axis_of(image);
    const int64_t height = image.shape[height_axis], width = image.shape[height_axis + 1];
    RandomStream random = mixing_.random(sample);
    const double part = std::sqrt(1.0 - mixing_.weight(random));
    const BoxSide x = random_box_side(width, part, random);
    const BoxSide y = random_box_side(height, part, random);
    const double area = static_cast<double>(x.extent()) * static_cast<double>(y.extent());
    const double whole = static_cast<double>(width) * static_cast<double>(height);
    mixing_.mix_labels(sample, partner, static_cast<float>(whole > 0 ? 1.0 - area / whole : 1.0));
    Tensor& output = sample.output(0, image.type, image.shape, image.layout);
    const int64_t bytes = image.num_bytes();
    if (bytes == 0) return;
    std::memcpy(output.data, image.data, static_cast<size_t>(bytes));
    int64_t planes = 1;
    for (int dim = 0; dim < height_axis; ++dim) planes *= image.shape[dim];
    const int64_t pixel = bytes / (planes * height * width);
    for (int64_t plane = 0; plane < planes; ++plane)
      for (int64_t row = y.begin; row < y.end; ++row) {
        const int64_t start = ((plane * height + row) * width + x.begin) * pixel;
        std::memcpy(static_cast<char*>(output.data) + start,
                    static_cast<const char*>(other.data) + start,
                    static_cast<size_t>(x.extent() * pixel));
      }
  }

 private:
  static int height_axis_of(const Tensor& image) {
    const Layout layout = image_layout(image, "FHWC");
    const ImageAxes axes = image_axes(layout);
    if (axes.height < 0 || axes.width != axes.height + 1)
      throw std::invalid_argument("images must have a layout with H and W beside it (got \"" +
                                  std::string(layout.c_str()) + "\"). Transpose them before.");
    return axes.height;
  }

  BatchMixing mixing_;
};

DALI_CORE_REGISTER_OPERATOR("cutmix", Cutmix)

}  // namespace dali_core
