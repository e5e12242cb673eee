#include "image_chain.hpp"

#include <algorithm>
#include <cstring>

#include "clip_chain_run.hpp"
#include "dali_core/kernels/flip/mirror_row.hpp"
#include "image_chain_run.hpp"

namespace dali_core {
namespace {

// Working memory for what a pixel step makes of a band, at most this many bytes for each of its
// elements; a step that needs more gets a buffer of its own.
constexpr int64_t kStepGrowth = 16;

bool is_clip(const Tensor& input) {
  return input.shape.ndim == 4 && input.layout == Layout("FHWC");
}

}  // namespace

void ImageChainRun::run() {
  if (chain_.source_) {
    type_ = chain_.source_->image_type();
    chain_.source_->produce(contexts_.front(), *this);
  } else {
    take_input();
  }
  if (!in_place_) run_rows();
}

std::optional<CropWindow> ImageChainRun::choose_planes(const PlanarImage& image) {
  plan_decoded(image.part.height, image.part.width);
  const bool is_taken = geometry_->is_resampled() && type_ == DataType::kUInt8 &&
                        geometry_->type() == DataType::kUInt8;
  if (!is_taken) return std::nullopt;
  return planes_.emplace(image, geometry_->rows(), geometry_->columns()).region();
}

void ImageChainRun::allocate_planes(uint8_t** planes) {
  channels_ = PlanarImage::kPlanes;
  in_place_ = false;
  planes_->bind(own_.scratch<uint8_t>(kImageSlot, planes_->plane_bytes()),
                own_.scratch<char>(kPlanSlot, planes_->scratch_bytes()));
  for (int i = 0; i < PlanarImage::kPlanes; ++i) planes[i] = planes_->samples(i);
}

// A decoder that began with planes may have given up.
void* ImageChainRun::allocate(int64_t height, int64_t width, int channels) {
  planes_.reset();
  channels_ = channels;
  stride_ = width * channels * size_of(type_);
  in_place_ = !geometry_->is_resampled() && !is_mirrored() && !has_tail();
  char* const memory = in_place_
                           ? declare_output(geometry_->type(), channels).as<char>()
                           : own_.scratch<char>(kImageSlot, static_cast<size_t>(height * stride_));
  image_ = memory;
  return memory;
}

// The image is in memory already.
void ImageChainRun::take_input() {
  const Tensor& image = contexts_.front().input(0);
  has_layout_ = !image.layout.empty();
  const bool fits = !has_layout_ || image.layout == Layout("HWC");
  if (!fits || image.shape.ndim != 3 || image.num_elements() == 0) throw Refused();
  type_ = image.type;
  channels_ = static_cast<int>(image.shape[2]);
  stride_ = image.shape[1] * channels_ * size_of(type_);
  image_ = image.as<char>();
  plan(image.shape[0], image.shape[1]);
}

Tensor& ImageChainRun::declare_output(DataType type, int64_t channels) {
  return contexts_.back().output(0, type, {geometry_->height(), geometry_->width(), channels},
                                 "HWC");
}

void ImageChainRun::run_rows() {
  if (geometry_->is_resampled())
    run_resampled_rows();
  else
    run_copied_rows();
}

void ImageChainRun::run_resampled_rows() {
  if (planes_) {
    take_rows(ResampledPlanes::kRowsAtOnce,
              [&](int64_t y, int64_t count, char* to, int64_t stride) {
                void* targets[kMaxBandRows];
                for (int64_t i = 0; i < count; ++i) targets[i] = to + i * stride;
                planes_->make_rows(y, count, targets);
              });
    return;
  }
  const AxisGeometry& rows = geometry_->rows();
  const AxisGeometry& columns = geometry_->columns();
  if (!plan_) {
    plan_.emplace(rows.resampling(), columns.resampling(), channels_, type_, geometry_->type());
    plan_->bind(own_.scratch<char>(kPlanSlot, plan_->scratch_bytes()));
  }
  ResampleImage image;
  image.data = image_;
  image.row_stride = stride_;
  image.first_row = first_row_ - rows.source_start();
  image.first_column = first_column_ - columns.source_start();
  take_rows(plan_->rows_at_once(), [&](int64_t y, int64_t count, char* to, int64_t stride) {
    prepare_rows(y, count);
    void* targets[kMaxBandRows];
    for (int64_t i = 0; i < count; ++i) targets[i] = to + i * stride;
    for (int64_t i = 0; i < count; i += plan_->rows_at_once())
      plan_->make_rows(image, y + i,
                       static_cast<int>(std::min<int64_t>(plan_->rows_at_once(), count - i)),
                       targets + i);
  });
}

// Rows of a part that is not resampled.
void ImageChainRun::run_copied_rows() {
  const AxisGeometry& rows = geometry_->rows();
  const AxisGeometry& columns = geometry_->columns();
  const int64_t pixel = channels_ * size_of(type_);
  const int64_t row_bytes = columns.size() * pixel;
  const int64_t step = rows.is_reversed() ? -stride_ : stride_;
  const char* const first =
      image_ + (columns.start() - first_column_) * pixel +
      (rows.start() - first_row_ + (rows.is_reversed() ? rows.size() - 1 : 0)) * stride_;
  if (!columns.is_reversed() && chain_.pixels_.empty() && chain_.finish_) {
    start_finish(type_, channels_);
    sink_->write(first, step, 0, rows.size());
    return;
  }
  take_rows(1, [&](int64_t y, int64_t count, char* to, int64_t stride) {
    for (int64_t i = 0; i < count; ++i) {
      const char* const from = first + (y + i) * step;
      if (columns.is_reversed())
        mirror_row(from, to + i * stride, columns.size(), pixel);
      else
        std::memcpy(to + i * stride, from, static_cast<size_t>(row_bytes));
    }
  });
}

void ImageChainRun::run_pixel_steps(const Tensor& band, int64_t y) {
  Tensor stages[2];
  const Tensor* current = &band;
  const int64_t capacity = band.num_elements() * kStepGrowth;
  for (size_t k = 0; k < chain_.pixels_.size(); ++k) {
    const auto& member = chain_.pixels_[k];
    OutputSlot slot;
    if (k + 1 == chain_.pixels_.size() && result_) {
      slot.data = result_row(y);
      slot.type = result_->type;
      slot.shape = {band.shape[0], result_->shape[1], result_->shape[2]};
    } else {
      slot.data = own_.scratch<char>(kStepSlots, static_cast<size_t>(capacity));
      // A step that had nothing to do has passed its input on.
      if (slot.data == current->data)
        slot.data = own_.scratch<char>(kStepSlots + 1, static_cast<size_t>(capacity));
      slot.capacity = capacity;
    }
    Tensor& next = stages[k % 2];
    SampleContext context = contexts_[member.number].on(*current, next, slot);
    member.step->run(context);
    current = &next;
  }
  finish_band(*current, y);
}

// Takes finished rows to the output, unless they were made there.
void ImageChainRun::finish_band(const Tensor& band, int64_t y) {
  const int64_t count = band.shape[0];
  const int64_t stride = band.num_bytes() / count;
  if (chain_.finish_) {
    if (!sink_) start_finish(band.type, band.shape[2]);
    sink_->write(band.data, stride, y, count);
    return;
  }
  if (!result_) result_ = &declare_output(band.type, band.shape[2]);
  if (band.data != result_row(y))
    std::memcpy(result_row(y), band.data, static_cast<size_t>(band.num_bytes()));
}

char* ImageChainRun::result_row(int64_t y) const {
  return result_->as<char>() + y * result_->shape[1] * result_->shape[2] * size_of(result_->type);
}

void ImageChainRun::start_finish(DataType type, int64_t channels) {
  sink_ = chain_.finish_->finish(contexts_.back(), type,
                                 {geometry_->height(), geometry_->width(), channels},
                                 /*is_frame=*/false);
}

ImageChain::ImageChain(std::vector<std::shared_ptr<const Operator>> operators)
    : operators_(std::move(operators)) {
  for (size_t i = 0; i < operators_.size(); ++i) {
    const Operator* const op = operators_[i].get();
    if (const auto* step = dynamic_cast<const GeometryStep*>(op)) geometry_.push_back({i, step});
    if (dynamic_cast<const PixelStep*>(op) != nullptr) pixels_.push_back({i, op});
    if (i == 0) {
      source_ = dynamic_cast<const ImageSource*>(op);
      clips_ = dynamic_cast<const ClipSource*>(op);
    }
    if (i + 1 == operators_.size()) finish_ = dynamic_cast<const FinishStep*>(op);
  }
}

bool ImageChain::run(SampleContext& own, std::vector<SampleContext>& operators) const {
  try {
    if (clips_ || (!source_ && is_clip(operators.front().input(0))))
      ClipChainRun(*this, own, operators).run();
    else
      ImageChainRun(*this, own, operators).run();
  } catch (const Refused&) {
    return false;
  }
  return true;
}

}  // namespace dali_core
