#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "dali_core/kernels/boxes/boxes.hpp"
#include "dali_core/kernels/boxes/kept_rows.hpp"
#include "dali_core/kernels/boxes/random_box_crop.hpp"
#include "dali_core/operator.hpp"

namespace dali_core {

class SsdRandomCrop : public Operator {
 public:
  explicit SsdRandomCrop(const OperatorConfig& config) : seed_(config.seed) {
    rules_.thresholds = {0, 0.1f, 0.3f, 0.5f, 0.7f, 0.9f};
    rules_.scaling = {0.3f, 1};
    rules_.aspect_ratios = {{0.5f, 2}};
    rules_.num_attempts = config.get<int64_t>("num_attempts");
  }

  void run(SampleContext& sample) const override {
    const Tensor& image = sample.input(0);
    if (image.shape.ndim != 3 || !(image.layout.empty() || image.layout == Layout("HWC")))
      throw std::invalid_argument("images must have the layout HWC (got shape " +
                                  to_string(image.shape) + " with layout \"" +
                                  image.layout.c_str() + "\"). Use fn.transpose.");
    const int64_t count = count_box_rows(sample.input(1));
    check_labels(sample.input(2), count);
    std::vector<Region> boxes(static_cast<size_t>(count));
    for (int64_t i = 0; i < count; ++i) {
      const Box box = read_box(sample.input(1).as<float>() + 4 * i, true);
      if (!std::isfinite(box.left + box.top + box.right + box.bottom))
        throw std::invalid_argument("boxes must be finite (got box " + std::to_string(i) +
                                    " with infinite numbers or NaN). Leave it out.");
      boxes[static_cast<size_t>(i)] = {{box.left, box.top}, {box.right, box.bottom}};
    }
    RandomStream random = sample.random(seed_);
    const BoxCrop crop = random_box_crop(boxes, rules_, {}, random);
    write_boxes(sample, crop, boxes);
    write_kept_rows(sample, 2, sample.input(2), crop.kept);
    if (crop.is_whole)
      sample.forward(0, image);
    else
      write_image(sample, crop.window);
  }

 private:
  static void write_boxes(SampleContext& sample, const BoxCrop& crop,
                          const std::vector<Region>& boxes) {
    const auto count = static_cast<int64_t>(crop.kept.size());
    float* out = sample.output(1, DataType::kFloat, {count, 4}).as<float>();
    for (const int64_t number : crop.kept) {
      const Region& before = boxes[static_cast<size_t>(number)];
      const Region box = crop.is_whole ? before : inside(crop.window, before, 2);
      write_box({box.start[0], box.start[1], box.end[0], box.end[1]}, true, out);
      out += 4;
    }
  }

  static void write_image(SampleContext& sample, const Region& window) {
    const Tensor& image = sample.input(0);
    const int64_t extents[2] = {image.shape[1], image.shape[0]};
    int64_t start[2], extent[2];
    for (int dim = 0; dim < 2; ++dim) {
      const auto pixels = static_cast<float>(extents[dim]);
      extent[dim] = std::min(static_cast<int64_t>(window.extent(dim) * pixels), extents[dim]);
      start[dim] = std::clamp<int64_t>(static_cast<int64_t>(window.start[dim] * pixels), 0,
                                       extents[dim] - extent[dim]);
    }
    const Shape shape{extent[1], extent[0], image.shape[2]};
    Tensor& out = sample.output(0, image.type, shape, image.layout);
    const int64_t pixel = image.shape[2] * size_of(image.type);
    const int64_t row = extent[0] * pixel;
    for (int64_t y = 0; row > 0 && y < extent[1]; ++y)
      std::memcpy(out.as<char>() + y * row,
                  image.as<char>() + ((start[1] + y) * extents[0] + start[0]) * pixel,
                  static_cast<size_t>(row));
  }

  BoxCropRules rules_;
  uint64_t seed_;
};

DALI_CORE_REGISTER_OPERATOR("ssd_random_crop", SsdRandomCrop)

}  // namespace dali_core
