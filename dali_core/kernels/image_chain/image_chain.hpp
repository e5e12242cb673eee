// Interfaces of operators on images that are fused into chains: the region that remains is pushed
// back into the decoder, only its pixels are resampled, and the rest is done to a few rows at a
// time, in the cache. Results are bit for bit those of running the operators one after the other.
//
// An operator takes part by deriving from one of these, besides Operator:
//
//   ImageSource   makes an image and lets a sink choose the region, such as a decoder;
//   WindowStep    takes a part of the image or mirrors it;
//   ResampleStep  changes its size;
//   PixelStep     makes each row of the output from the same row of the input, and no other;
//   FinishStep    does what a WindowStep does, then takes the rows to a place of its choice.
//
// Images in a chain have layout HWC; clips, of layout FHWC, pass frame by frame (see clip.hpp). A
// step may refuse a sample; its chain then runs one by one.
#pragma once

#include <cmath>
#include <cstdint>
#include <exception>
#include <memory>
#include <vector>

#include "dali_core/each_frame.hpp"
#include "dali_core/kernels/image_chain/image_sink.hpp"
#include "dali_core/kernels/normalize/finished_image.hpp"
#include "dali_core/kernels/resample/resample.hpp"
#include "dali_core/operator.hpp"

namespace dali_core {

// What is left of one axis of an image after cropping, mirroring and at most one resampling.
class AxisGeometry {
 public:
  explicit AxisGeometry(int64_t size) : image_size_(size), extent_(size) {}

  int64_t image_size() const { return image_size_; }
  int64_t size() const { return extent_; }

  // False if the part does not lie inside.
  bool crop(int64_t start, int64_t extent) {
    if (start < 0 || extent < 1 || start > extent_ - extent) return false;
    start_ += reversed_ ? extent_ - start - extent : start;
    extent_ = extent;
    return true;
  }

  void mirror() { reversed_ = !reversed_; }

  bool can_resample() const { return !is_resampled_ && !reversed_; }

  void resample(const ResampleAxis& axis) {
    is_resampled_ = true;
    resampling_ = axis;
    source_start_ = start_;
    start_ = 0;
    extent_ = axis.output_size;
  }

  bool is_resampled() const { return is_resampled_; }

  // How to resample what begins at `source_start`, to get what is left and in its order.
  ResampleAxis resampling() const {
    ResampleAxis axis = resampling_;
    axis.first_output = start_;
    axis.num_outputs = extent_;
    axis.reverse = reversed_;
    return axis;
  }
  int64_t source_start() const { return source_start_; }

  // Without resampling: which part of the image is left.
  int64_t start() const { return start_; }
  bool is_reversed() const { return reversed_; }

  // Input pixels for each output pixel.
  float shrinking() const {
    return is_resampled_ ? std::fabs(resampling_.end - resampling_.begin) /
                               static_cast<float>(resampling_.output_size)
                         : 1.0f;
  }

  // Replaces the image by one of another size that shows the same.
  void rescale(int64_t size) {
    const float factor = static_cast<float>(size) / static_cast<float>(image_size_);
    resampling_.begin = (resampling_.begin + static_cast<float>(source_start_)) * factor;
    resampling_.end = (resampling_.end + static_cast<float>(source_start_)) * factor;
    resampling_.input_size = image_size_ = size;
    source_start_ = 0;
  }

 private:
  int64_t image_size_;
  int64_t source_start_ = 0;
  int64_t start_ = 0;  // of what is left, in the resampled axis if it is resampled
  int64_t extent_;
  bool reversed_ = false;
  bool is_resampled_ = false;
  ResampleAxis resampling_;
};

// What is left of an image.
class ImageGeometry {
 public:
  ImageGeometry(int64_t height, int64_t width, DataType type, bool has_layout)
      : rows_(height), columns_(width), type_(type), has_layout_(has_layout) {}

  int64_t height() const { return rows_.size(); }
  int64_t width() const { return columns_.size(); }
  DataType type() const { return type_; }
  // Whether the layout is that of the image, or a guess.
  bool has_layout() const { return has_layout_; }
  const AxisGeometry& rows() const { return rows_; }
  const AxisGeometry& columns() const { return columns_; }
  bool is_resampled() const { return rows_.is_resampled(); }

  bool crop(int64_t y, int64_t x, int64_t height, int64_t width) {
    return rows_.crop(y, height) && columns_.crop(x, width);
  }

  void mirror(bool horizontally, bool vertically) {
    if (horizontally) columns_.mirror();
    if (vertically) rows_.mirror();
  }

  bool resample(const ResampleAxis& rows, const ResampleAxis& columns, DataType type) {
    if (!rows_.can_resample() || !columns_.can_resample()) return false;
    if (rows.output_size < 1 || columns.output_size < 1) return false;
    rows_.resample(rows);
    columns_.resample(columns);
    type_ = type;
    return true;
  }

  void rescale(int64_t height, int64_t width) {
    rows_.rescale(height);
    columns_.rescale(width);
  }

 private:
  AxisGeometry rows_, columns_;
  DataType type_;
  bool has_layout_;
};

// What a sink throws when a step refuses the sample, before it takes any pixels. It passes through
// the source, which is run once more then, on its own.
struct Refused : std::exception {};

class ImageSource {
 public:
  virtual ~ImageSource() = default;

  // Type of the elements that `produce` writes.
  virtual DataType image_type() const = 0;
  virtual void produce(SampleContext& sample, ImageSink& sink) const = 0;
};

class GeometryStep {
 public:
  virtual ~GeometryStep() = default;

  // Changes what is left of the image; false refuses the sample. `sample` has the step's arguments
  // and random numbers, but no inputs.
  virtual bool reshape(SampleContext& sample, ImageGeometry& image) const = 0;

  // Whether the step does to each of the `frames` frames of a clip, of layout FHWC, what it does to
  // an image. If not, its chain is run one by one for clips.
  virtual bool is_same_for_frames(const SampleContext& sample, int64_t frames) const {
    (void)sample;
    (void)frames;
    return false;
  }
};

class WindowStep : public GeometryStep {};

class ResampleStep : public GeometryStep {};

// Takes the rows of one image.
class RowSink {
 public:
  virtual ~RowSink() = default;

  // Takes `count` rows of dense pixels, `stride` bytes apart; the first is row `first`.
  virtual void write(const void* rows, int64_t stride, int64_t first, int64_t count) = 0;
};

class FinishStep : public GeometryStep {
 public:
  // Declares output 0 for an image of shape (height, width, channels) that has been reshaped; or
  // what output 0 is for one frame of a clip, of which it is the sample's only image.
  virtual std::unique_ptr<RowSink> finish(SampleContext& sample, DataType type, const Shape& image,
                                          bool is_frame) const = 0;

  // The same for a device.
  virtual FinishedImage describe(SampleContext& sample, DataType type,
                                 const Shape& image) const = 0;
};

}  // namespace dali_core
