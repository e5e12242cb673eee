#include "clip_chain_run.hpp"

#include <algorithm>
#include <string>

#include "dali_core/kernels/flip/mirror_row.hpp"

namespace dali_core {

void ClipChainRun::run() {
  if (chain_.clips_)
    chain_.clips_->produce_clip(contexts_.front(), *this);
  else
    take_input();
}

// The clip is in memory already.
void ClipChainRun::take_input() {
  const Tensor& clip = contexts_.front().input(0);
  if (clip.num_elements() == 0) throw Refused();
  type_ = clip.type;
  channels_ = static_cast<int>(clip.shape[3]);
  stride_ = clip.shape[2] * channels_ * size_of(type_);
  check_steps(clip.shape[0]);
  plan(clip.shape[1], clip.shape[2]);
  for (int64_t place = 0; place < num_frames_; ++place) {
    start_frame(place);
    image_ = clip.as<char>() + place * clip.shape[1] * stride_;
    run_rows();
  }
}

void ClipChainRun::begin(int64_t num_frames, int64_t height, int64_t width, int channels) {
  clip_.begin(num_frames, height, width, channels);
  if (num_frames == 0 || height == 0 || width == 0) throw Refused();
  type_ = chain_.clips_->image_type();
  channels_ = channels;
  check_steps(num_frames);
  region_ = choose_region(height, width);
  stride_ = region_.width * channels_ * size_of(type_);
  if (!geometry_->is_resampled()) return;
  const AxisTaps taps(running(geometry_->rows().resampling()));
  starts_.resize(static_cast<size_t>(taps.num_outputs()));
  std::vector<float> weights(starts_.size() * static_cast<size_t>(taps.num_taps()));
  taps.fill(starts_.data(), weights.data());
  num_taps_ = taps.num_taps();
}

void ClipChainRun::take(int64_t place, const ClipFrame& frame) {
  clip_.check(place, frame);
  start_frame(place);
  if (geometry_->is_resampled())
    read_resampled(frame);
  else
    read_copied(frame);
}

void ClipChainRun::check_steps(int64_t num_frames) {
  num_frames_ = num_frames;
  for (const auto& member : chain_.geometry_)
    if (!member.step->is_same_for_frames(contexts_[member.number], num_frames)) throw Refused();
}

void ClipChainRun::start_frame(int64_t place) {
  place_ = place;
  sink_.reset();
  result_ = nullptr;
}

void ClipChainRun::read_resampled(const ClipFrame& frame) {
  reading_ = &frame;
  read_begin_ = read_end_ = 0;
  image_ = own_.scratch<char>(kImageSlot, static_cast<size_t>(region_.height * stride_));
  run_resampled_rows();
  reading_ = nullptr;
}

void ClipChainRun::prepare_rows(int64_t y, int64_t count) {
  if (reading_ == nullptr) return;
  const auto first = starts_.begin() + static_cast<std::ptrdiff_t>(y);
  const auto [low, high] = std::minmax_element(first, first + static_cast<std::ptrdiff_t>(count));
  const int64_t offset = geometry_->rows().source_start() - first_row_;
  const int64_t begin = std::max<int64_t>(*low + offset, 0);
  const int64_t end = std::min<int64_t>(*high + num_taps_ + offset, region_.height);
  if (read_begin_ == read_end_) read_begin_ = read_end_ = begin;
  if (begin < read_begin_) read_rows(*reading_, begin, read_begin_);
  if (end > read_end_) read_rows(*reading_, read_end_, end);
  read_begin_ = std::min(read_begin_, begin);
  read_end_ = std::max(read_end_, end);
}

// Rows of the region.
void ClipChainRun::read_rows(const ClipFrame& frame, int64_t begin, int64_t end) {
  frame.read({region_.y + begin, region_.x, end - begin, region_.width},
             reinterpret_cast<uint8_t*>(const_cast<char*>(image_)) + begin * stride_, stride_);
}

void ClipChainRun::read_copied(const ClipFrame& frame) {
  const AxisGeometry& rows = geometry_->rows();
  const AxisGeometry& columns = geometry_->columns();
  if (!is_mirrored() && !has_tail()) {
    frame.read({rows.start(), columns.start(), rows.size(), columns.size()},
               reinterpret_cast<uint8_t*>(declare_output(type_, channels_).as<char>()), stride_);
    return;
  }
  uint8_t* const row = own_.scratch<uint8_t>(kImageSlot, static_cast<size_t>(stride_));
  take_rows(1, [&](int64_t y, int64_t count, char* out, int64_t stride) {
    auto* const to = reinterpret_cast<uint8_t*>(out);
    if (!is_mirrored())
      return frame.read({rows.start() + y, columns.start(), count, columns.size()}, to, stride);
    for (int64_t i = 0; i < count; ++i) {
      const int64_t from = rows.is_reversed() ? rows.size() - 1 - y - i : y + i;
      uint8_t* const target = columns.is_reversed() ? row : to + i * stride;
      frame.read({rows.start() + from, columns.start(), 1, columns.size()}, target, stride_);
      if (columns.is_reversed())
        mirror_row(row, to + i * stride, columns.size(), channels_ * size_of(type_));
    }
  });
}

void ClipChainRun::declare_clip(DataType type, const Shape& frame, const Layout& layout) {
  frame_shape_ = frame;
  frame_layout_ = layout;
  Shape shape{num_frames_};
  for (int i = 0; i < frame.ndim; ++i) shape.push_back(frame[i]);
  whole_ = &contexts_.back().output(0, type, shape,
                                    layout.empty() ? layout : "F" + std::string(layout.c_str()));
}

Tensor& ClipChainRun::view_frame() {
  frame_ = Tensor{};
  frame_.type = whole_->type;
  frame_.shape = frame_shape_;
  frame_.layout = frame_layout_;
  frame_.data = whole_->as<char>() + place_ * frame_.num_bytes();
  return frame_;
}

Tensor& ClipChainRun::declare_output(DataType type, int64_t channels) {
  if (whole_ == nullptr)
    declare_clip(type, {geometry_->height(), geometry_->width(), channels}, "HWC");
  return view_frame();
}

void ClipChainRun::start_finish(DataType type, int64_t channels) {
  const Shape image{geometry_->height(), geometry_->width(), channels};
  if (whole_ == nullptr) {
    // What a frame becomes, the step says by declaring it.
    Tensor declared;
    const OutputSlot anywhere;
    SampleContext context = contexts_.back().on(declared, declared, anywhere);
    chain_.finish_->finish(context, type, image, /*is_frame=*/true);
    declare_clip(declared.type, declared.shape, declared.layout);
  }
  view_frame();
  slot_.data = frame_.data;
  slot_.type = frame_.type;
  slot_.shape = frame_.shape;
  finish_context_.emplace(contexts_.back().on(*whole_, frame_, slot_));
  sink_ = chain_.finish_->finish(*finish_context_, type, image, /*is_frame=*/true);
}

}  // namespace dali_core
