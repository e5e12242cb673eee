#include "device_image_chain.hpp"

#include <cstring>
#include <exception>
#include <new>
#include <utility>

#include "dali_core/kernels/normalize/normalize_device.hpp"
#include "dali_core/kernels/resample/resample_device.hpp"
#include "dali_core/kernels/window/window_copy_device.hpp"

namespace dali_core {
namespace {

const Layout kPixels("HWC");

Shape shape_of(const ImageGeometry& geometry, int64_t channels) {
  return {geometry.height(), geometry.width(), channels};
}

// The part of the input that is left if nothing is resampled.
Window window_of(const PlannedPart& part, const Shape& input) {
  Window window(shape_of(*part.geometry, input[2]));
  window.start[0] = part.geometry->rows().start() - part.first_row;
  window.start[1] = part.geometry->columns().start() - part.first_column;
  return window;
}

bool is_mirrored(const AxisGeometry& axis) { return axis.is_reversed() && axis.size() > 1; }

PlannedWindow plan_window(const PlannedPart& part, const Tensor& input) {
  PlannedWindow planned{Window(input.shape), input.type, input.layout, -1, true, {}};
  if (!part.geometry) return planned;
  planned.window = window_of(part, input.shape);
  planned.layout = kPixels;
  planned.mirrored[0] = is_mirrored(part.geometry->rows());
  planned.mirrored[1] = is_mirrored(part.geometry->columns());
  planned.is_whole =
      planned.window.is_whole(input.shape) && !planned.mirrored[0] && !planned.mirrored[1];
  return planned;
}

PlannedNormalization plan_normalization(PlannedPart& part, const Tensor& input) {
  PlannedNormalization planned{Window(input.shape), image_axes(kPixels)};
  planned.layout = input.layout;
  planned.is_forwarded = !part.geometry;
  if (planned.is_forwarded) return planned;
  planned.window = window_of(part, input.shape);
  planned.mirror_rows = is_mirrored(part.geometry->rows());
  planned.mirror_columns = is_mirrored(part.geometry->columns());
  planned.type = part.finish->type;
  planned.shape = part.finish->shape;
  planned.layout = part.finish->layout;
  for (int i = 0; i < 3; ++i) planned.input_axis[i] = kPixels.find(planned.layout[i]);
  planned.channels = std::move(part.finish->channels);
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

PlannedResampling plan_resampling(PlannedPart& part, const Tensor& input) {
  PlannedResampling planned;
  planned.layout = input.layout;
  planned.is_forwarded = !part.geometry;
  if (planned.is_forwarded) return planned;
  const ImageGeometry& geometry = *part.geometry;
  const int64_t channels = input.shape[2];
  planned.type = geometry.type();
  planned.shape = shape_of(geometry, channels);
  planned.layout = kPixels;
  planned.rows = resampling_of(geometry.rows());
  planned.columns = resampling_of(geometry.columns());
  planned.channels = channels;
  planned.num_volumes = 1;
  planned.row_elements = input.shape[1] * channels;
  planned.slice_elements = input.shape[0] * planned.row_elements;
  planned.offset = (geometry.rows().source_start() - part.first_row) * planned.row_elements +
                   (geometry.columns().source_start() - part.first_column) * channels;
  planned.finish = std::move(part.finish);
  return planned;
}

}  // namespace

DeviceImageChain::DeviceImageChain(std::vector<std::shared_ptr<const Operator>> operators)
    : operators_(std::move(operators)) {
  for (const auto& member : operators_)
    steps_.push_back(&dynamic_cast<const GeometryStep&>(*member));
  finish_ = dynamic_cast<const FinishStep*>(operators_.back().get());
}

// False if a step refuses the sample, or has an error that it is to have by itself.
bool DeviceImageChain::plan_image(DeviceBatch& batch, int i, PlannedPart& planned) const {
  const Tensor& input = batch.input(0, i);
  const bool has_layout = !input.layout.empty();
  RegionNote note{};
  const bool is_part = batch.sample(i).num_inputs() > 1;
  if (is_part) {
    const Tensor& given = batch.input(1, i);
    if (given.type == DataType::kNone) return true;
    std::memcpy(&note, given.data, sizeof note);
  } else {
    if (has_layout && input.layout != kPixels) return false;
    if (input.shape.ndim != 3 || input.num_elements() == 0) return false;
    note.full_height = note.height = input.shape[0];
    note.full_width = note.width = input.shape[1];
  }
  ImageGeometry geometry(note.full_height, note.full_width, input.type, has_layout);
  try {
    for (size_t member = 0; member < steps_.size(); ++member)
      if (!steps_[member]->reshape(batch.sample(i, static_cast<int>(member)), geometry))
        return false;
    if (note.height != note.full_height || note.width != note.full_width)
      geometry.rescale(note.height, note.width);
    if (finish_)
      planned.finish = finish_->describe(batch.sample(i, batch.num_members() - 1), geometry.type(),
                                         shape_of(geometry, input.shape[2]));
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception&) {
    return false;
  }
  planned.first_row = note.first_row;
  planned.first_column = note.first_column;
  planned.geometry = geometry;
  return true;
}

bool DeviceImageChain::plan(DeviceBatch& batch) const {
  std::vector<PlannedPart> images(static_cast<size_t>(batch.size()));
  bool any_resampled = false;
  for (int i = 0; i < batch.size(); ++i) {
    if (!plan_image(batch, i, images[i])) return false;
    any_resampled = any_resampled || (images[i].geometry && images[i].geometry->is_resampled());
  }
  std::vector<PlannedWindow> windows;
  std::vector<PlannedNormalization> normalizations;
  std::vector<PlannedResampling> resamplings;
  for (int i = 0; i < batch.size(); ++i) {
    PlannedPart& image = images[i];
    const Tensor& input = batch.input(0, i);
    if (any_resampled)
      resamplings.push_back(plan_resampling(image, input));
    else if (finish_)
      normalizations.push_back(plan_normalization(image, input));
    else
      windows.push_back(plan_window(image, input));
  }
  if (any_resampled)
    resample_on_device(batch, resamplings);
  else if (finish_)
    normalize_on_device(batch, normalizations);
  else
    DeviceWindowCopies(batch).run(windows);
  return true;
}

// One sample on its way through the part of a chain that is on the host.
class RegionRun : public ImageRegion {
 public:
  RegionRun(const RegionChain& chain, std::vector<SampleContext>& contexts)
      : ImageRegion(chain.steps_, contexts), chain_(chain) {
    type_ = chain.source_->image_type();
  }

  void* allocate(int64_t height, int64_t width, int channels) override {
    SampleContext& last = contexts_.back();
    // What is wrong with its arguments, the operator says by itself.
    if (chain_.finish_)
      chain_.finish_->describe(last, geometry_->type(), shape_of(*geometry_, channels));
    return last.output(0, type_, {height, width, channels}, kPixels).data;
  }

  RegionNote note() const {
    return {full_height_,
            full_width_,
            geometry_->rows().image_size(),
            geometry_->columns().image_size(),
            first_row_,
            first_column_};
  }

 private:
  const RegionChain& chain_;
};

RegionChain::RegionChain(std::vector<std::shared_ptr<const Operator>> operators)
    : operators_(std::move(operators)),
      source_(&dynamic_cast<const ImageSource&>(*operators_.front())),
      finish_(dynamic_cast<const FinishStep*>(operators_.back().get())) {
  for (size_t i = 1; i < operators_.size(); ++i)
    steps_.push_back({i, &dynamic_cast<const GeometryStep&>(*operators_[i])});
  if (dynamic_cast<const ClipSource*>(source_) != nullptr)
    clip_ = std::make_unique<const ImageChain>(operators_);
}

bool RegionChain::run(SampleContext& own, std::vector<SampleContext>& operators) const {
  // Frames of a clip are finished on the host, and only the result goes to the device.
  if (clip_) return clip_->run(own, operators);
  RegionRun run(*this, operators);
  try {
    source_->produce(operators.front(), run);
  } catch (const Refused&) {
    return false;
  }
  constexpr int64_t kNumbers = sizeof(RegionNote) / sizeof(int64_t);
  const RegionNote note = run.note();
  std::memcpy(operators.back().output(1, DataType::kInt64, {kNumbers}).data, &note, sizeof note);
  return true;
}

}  // namespace dali_core
