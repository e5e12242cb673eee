// fn.random_resized_crop: which window is resized.
#include <stdexcept>
#include <string>
#include <vector>

#include "dali_core/kernels/resample/resize_image.hpp"
#include "dali_core/kernels/resize/resize_in_chain.hpp"
#include "dali_core/kernels/resize/resizing_operator.hpp"
#include "dali_core/kernels/window/random_crop.hpp"
#include "dali_core/operator.hpp"

namespace dali_core {

class RandomResizedCropRule {
 public:
  static constexpr bool kHasVolumes = false;

  explicit RandomResizedCropRule(const OperatorConfig& config)
      : window_(config), filters_(config), seed_(config.seed) {
    const std::vector<int64_t> size = config.get<std::vector<int64_t>>("size");

    size_[0] = size.front();
    size_[1] = size.back();
  }

  void choose(SampleContext& sample, const ResizeView& view, ResampleAxis* axes) const {
    if (view.extent[0] == 0 || view.extent[1] == 0)
      throw std::invalid_argument("the input must have at least one pixel (got shape " +
                                  to_string(view.shape) + "). Leave empty images out.");
    RandomStream random = sample.random(seed_);
    const CropWindow window = random_crop_window(view.extent[0], view.extent[1], window_, random);
    const int64_t begin[2] = {window.y, window.x};
    const int64_t extent[2] = {window.height, window.width};
    for (int i = 0; i < 2; ++i) {
      axes[i].input_size = view.extent[i];
      axes[i].output_size = size_[i];
      axes[i].begin = static_cast<float>(begin[i]);
      axes[i].end = static_cast<float>(begin[i] + extent[i]);
      filters_.choose(sample, axes[i]);
    }
  }

  DataType output_type(DataType input) const { return filters_.output_type(input); }

  bool reshape(SampleContext& sample, ImageGeometry& image) const {
    ResampleAxis axes[2];
    choose(sample, ResizeView(image.height(), image.width()), axes);
    return resize_in_chain(image, axes, output_type(image.type()));
  }

 private:
  RandomCropParameters window_;
  ResizeFilters filters_;
  uint64_t seed_;
  int64_t size_[2];
};

using RandomResizedCrop = ResizingOperator<RandomResizedCropRule>;

DALI_CORE_REGISTER_OPERATOR("random_resized_crop", RandomResizedCrop)

}  // namespace dali_core
