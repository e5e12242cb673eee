// fn.resize_crop_mirror: which part of a resized axis is made, and in which order.
#include <cstdint>
#include <stdexcept>

#include "dali_core/kernels/resample/resample.hpp"
#include "dali_core/kernels/resample/resize_image.hpp"
#include "dali_core/kernels/resize/resize_in_chain.hpp"
#include "dali_core/kernels/resize/resize_size.hpp"
#include "dali_core/kernels/resize/resizing_operator.hpp"
#include "dali_core/kernels/window/crop_window.hpp"
#include "dali_core/operator.hpp"

namespace dali_core {

namespace {

// Makes `extent` outputs from `first` on, where `axis` would make all of them.
void choose_outputs(ResampleAxis& axis, int64_t first, int64_t extent, bool mirror) {
  axis.reverse = mirror;
  if (first >= 0 && first + extent <= axis.output_size) {
    axis.first_output = first;
    axis.num_outputs = extent;
    return;
  }
  // Some of them lie beside the output: resize a larger region, at the same scale.
  const float scale = (axis.end - axis.begin) / static_cast<float>(axis.output_size);
  axis.end = axis.begin + scale * static_cast<float>(first + extent);
  axis.begin += scale * static_cast<float>(first);
  axis.output_size = extent;
}

}  // namespace

class ResizeCropMirrorRule {
 public:
  static constexpr bool kHasVolumes = true;

  explicit ResizeCropMirrorRule(const OperatorConfig& config)
      : size_(config), crop_(config), mirror_(config, "mirror"), filters_(config) {}

  void choose(SampleContext& sample, const ResizeView& view, ResampleAxis* axes) const {
    size_.choose(sample, view, axes);
    Shape resized;
    for (int i = 0; i < view.num_axes; ++i) {
      if (view.extent[i] == 0)
        throw std::invalid_argument("the input must have at least one pixel (got shape " +
                                    to_string(view.shape) + "). Leave empty images out.");
      filters_.choose(sample, axes[i]);
      resized.push_back(axes[i].output_size);
    }
    ImageAxes order;
    order.depth = view.num_axes - 3;  // -1 where there is none
    order.height = view.num_axes - 2;
    order.width = view.num_axes - 1;
    const Window window = crop_.window(sample, resized, order);
    const int mirror = mirror_.at(sample);
    for (int i = 0; i < view.num_axes; ++i)
      choose_outputs(axes[i], window.start[i], window.extent[i],
                     (mirror >> (view.num_axes - 1 - i) & 1) != 0);
  }

  DataType output_type(DataType input) const { return filters_.output_type(input); }

  bool reshape(SampleContext& sample, ImageGeometry& image) const {
    ResampleAxis axes[2];
    size_.choose(sample, ResizeView(image.height(), image.width()), axes);
    for (ResampleAxis& axis : axes) filters_.choose(sample, axis);
    if (!resize_in_chain(image, axes, filters_.output_type(image.type()))) return false;
    ImageAxes order;
    order.height = 0;
    order.width = 1;
    const Window window = crop_.window(sample, {image.height(), image.width()}, order);
    if (!image.crop(window.start[0], window.start[1], window.extent[0], window.extent[1]))
      return false;
    const int mirror = mirror_.at(sample);
    image.mirror((mirror & 1) != 0, (mirror & 2) != 0);
    return true;
  }

 private:
  ResizeSize size_;
  CropArguments crop_;
  Argument<int> mirror_;
  ResizeFilters filters_;
};

using ResizeCropMirror = ResizingOperator<ResizeCropMirrorRule>;

DALI_CORE_REGISTER_OPERATOR("resize_crop_mirror", ResizeCropMirror)

}  // namespace dali_core
