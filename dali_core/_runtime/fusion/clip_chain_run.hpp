// One clip on its way through a chain of image operators, frame by frame.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "dali_core/kernels/image_chain/clip.hpp"
#include "image_chain_run.hpp"

namespace dali_core {

// Frames of a source are made while their rows are used: of each, those that the next few rows of
// the result need. Results are those of the operators one by one, each for the whole clip.
class ClipChainRun : public ImageChainRun, public ClipSink {
 public:
  using ImageChainRun::ImageChainRun;

  void run();

  void begin(int64_t num_frames, int64_t height, int64_t width, int channels) override;
  void take(int64_t place, const ClipFrame& frame) override;

 protected:
  Tensor& declare_output(DataType type, int64_t channels) override;
  void start_finish(DataType type, int64_t channels) override;
  void prepare_rows(int64_t y, int64_t count) override;

 private:
  void take_input();
  void check_steps(int64_t num_frames);
  void start_frame(int64_t place);
  void read_resampled(const ClipFrame& frame);
  void read_rows(const ClipFrame& frame, int64_t begin, int64_t end);
  void read_copied(const ClipFrame& frame);
  void declare_clip(DataType type, const Shape& frame, const Layout& layout);
  Tensor& view_frame();

  CheckedClip clip_;
  int64_t num_frames_ = 0;
  int64_t place_ = 0;
  Tensor* whole_ = nullptr;  // output 0
  Tensor frame_;             // the part of it that is being made
  Shape frame_shape_;
  Layout frame_layout_;
  OutputSlot slot_;
  std::optional<SampleContext> finish_context_;

  // Of a frame that is resampled: which of its rows have been read, from the first one needed on.
  const ClipFrame* reading_ = nullptr;
  CropWindow region_;
  std::vector<int32_t> starts_;  // of the rows that each row of the result is made from
  int num_taps_ = 0;
  int64_t read_begin_ = 0;
  int64_t read_end_ = 0;
};

}  // namespace dali_core
