#include "device_image_chain.hpp"

#include <exception>
#include <new>
#include <utility>

#include "dali_core/operators/crop/window_copy_device.hpp"
#include "dali_core/operators/crop_mirror_normalize/normalize_device.hpp"
#include "dali_core/operators/resize/resample_device.hpp"

namespace dali_core {
namespace {

const Layout kPixels("HWC");

Shape shape_of(const ImageGeometry& geometry, int64_t channels) {
  return {geometry.height(), geometry.width(), channels};
}

// The part of the input that is left if nothing is resampled.
Window window_of(const ImageGeometry& geometry, const Shape& input) {
  Window window(shape_of(geometry, input[2]));
  window.start[0] = geometry.rows().start();
  window.start[1] = geometry.columns().start();
  return window;
}

bool is_mirrored(const AxisGeometry& axis) { return axis.is_reversed() && axis.size() > 1; }

PlannedWindow plan_window(const ImageGeometry& geometry, const Tensor& input) {
  PlannedWindow planned{window_of(geometry, input.shape), input.type, kPixels, -1, false, {}};
  planned.mirrored[0] = is_mirrored(geometry.rows());
  planned.mirrored[1] = is_mirrored(geometry.columns());
  planned.is_whole =
      planned.window.is_whole(input.shape) && !planned.mirrored[0] && !planned.mirrored[1];
  return planned;
}

PlannedNormalization plan_normalization(const ImageGeometry& geometry, const Tensor& input,
                                        FinishedImage finish) {
  PlannedNormalization planned{window_of(geometry, input.shape), image_axes(kPixels)};
  planned.mirror_rows = is_mirrored(geometry.rows());
  planned.mirror_columns = is_mirrored(geometry.columns());
  planned.type = finish.type;
  planned.shape = finish.shape;
  planned.layout = finish.layout;
  for (int i = 0; i < 3; ++i) planned.input_axis[i] = kPixels.find(finish.layout[i]);
  planned.channels = std::move(finish.channels);
  return planned;
}

// An axis that is not resampled takes each pixel from its own place.
ResampleAxis resampling_of(const AxisGeometry& axis) {
  if (axis.is_resampled()) return axis.resampling();
  ResampleAxis copy(axis.image_size(), axis.image_size(), ResampleFilter::kNearest);
  copy.first_output = axis.start();
  copy.num_outputs = axis.size();
  copy.reverse = axis.is_reversed();
  return copy;
}

PlannedResampling plan_resampling(const ImageGeometry& geometry, const Tensor& input,
                                  std::optional<FinishedImage> finish) {
  const int64_t channels = input.shape[2];
  PlannedResampling planned;
  planned.type = geometry.type();
  planned.shape = shape_of(geometry, channels);
  planned.layout = kPixels;
  planned.rows = resampling_of(geometry.rows());
  planned.columns = resampling_of(geometry.columns());
  planned.channels = channels;
  planned.num_volumes = 1;
  planned.row_elements = input.shape[1] * channels;
  planned.slice_elements = input.shape[0] * planned.row_elements;
  planned.offset = geometry.rows().source_start() * planned.row_elements +
                   geometry.columns().source_start() * channels;
  planned.finish = std::move(finish);
  return planned;
}

}  // namespace

DeviceImageChain::DeviceImageChain(std::vector<std::shared_ptr<const Operator>> operators)
    : operators_(std::move(operators)) {
  for (const auto& member : operators_)
    steps_.push_back(&dynamic_cast<const GeometryStep&>(*member));
  finish_ = dynamic_cast<const FinishStep*>(operators_.back().get());
}

std::optional<DeviceImageChain::PlannedImage> DeviceImageChain::plan_image(DeviceBatch& batch,
                                                                           int i) const {
  const Tensor& input = batch.input(0, i);
  const bool has_layout = !input.layout.empty();
  if (has_layout && input.layout != kPixels) return std::nullopt;
  if (input.shape.ndim != 3 || input.num_elements() == 0) return std::nullopt;
  ImageGeometry geometry(input.shape[0], input.shape[1], input.type, has_layout);
  try {
    for (size_t member = 0; member < steps_.size(); ++member)
      if (!steps_[member]->reshape(batch.sample(i, static_cast<int>(member)), geometry))
        return std::nullopt;
    PlannedImage planned{geometry, std::nullopt};
    if (finish_)
      planned.finish = finish_->describe(batch.sample(i, batch.num_members() - 1), geometry.type(),
                                         shape_of(geometry, input.shape[2]));
    return planned;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

bool DeviceImageChain::plan(DeviceBatch& batch) const {
  std::vector<PlannedImage> images;
  bool any_resampled = false;
  for (int i = 0; i < batch.size(); ++i) {
    std::optional<PlannedImage> planned = plan_image(batch, i);
    if (!planned) return false;
    any_resampled = any_resampled || planned->geometry.is_resampled();
    images.push_back(std::move(*planned));
  }
  std::vector<PlannedWindow> windows;
  std::vector<PlannedNormalization> normalizations;
  std::vector<PlannedResampling> resamplings;
  for (int i = 0; i < batch.size(); ++i) {
    PlannedImage& image = images[i];
    const Tensor& input = batch.input(0, i);
    if (any_resampled)
      resamplings.push_back(plan_resampling(image.geometry, input, std::move(image.finish)));
    else if (finish_)
      normalizations.push_back(plan_normalization(image.geometry, input, std::move(*image.finish)));
    else
      windows.push_back(plan_window(image.geometry, input));
  }
  if (any_resampled)
    resample_on_device(batch, resamplings);
  else if (finish_)
    normalize_on_device(batch, normalizations);
  else
    DeviceWindowCopies(batch).run(windows);
  return true;
}

}  // namespace dali_core
