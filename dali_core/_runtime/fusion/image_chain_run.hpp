// One sample on its way through a chain of image operators.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "dali_core/kernels/jpeg/resampled_planes.hpp"
#include "image_chain.hpp"

namespace dali_core {

class ImageChainRun : public ImageRegion, public PlaneSink {
 public:
  ImageChainRun(const ImageChain& chain, SampleContext& own, std::vector<SampleContext>& contexts)
      : ImageRegion(chain.geometry_, contexts), chain_(chain), own_(own) {}

  void run();

  void* allocate(int64_t height, int64_t width, int channels) override;

  std::optional<CropWindow> choose_planes(const PlanarImage& image) override;
  void allocate_planes(uint8_t** planes) override;

 protected:
  // Scratch memory of the chain itself.
  static constexpr size_t kPlanSlot = 0;
  static constexpr size_t kImageSlot = 1;
  static constexpr size_t kBandSlot = 2;
  static constexpr size_t kStepSlots = 3;  // two of them, in turn

  // Rows that go through the pixel steps at once: few enough to stay in the first-level cache.
  static constexpr int64_t kBandBytes = 8192;
  static constexpr int64_t kMaxBandRows = 16;

  bool has_tail() const { return !chain_.pixels_.empty() || chain_.finish_; }
  bool is_mirrored() const {
    return geometry_->rows().is_reversed() || geometry_->columns().is_reversed();
  }

  // Output 0 of the chain, of layout HWC.
  virtual Tensor& declare_output(DataType type, int64_t channels);
  // Sets `sink_`.
  virtual void start_finish(DataType type, int64_t channels);
  // Is called before rows [y, y + count) are resampled.
  virtual void prepare_rows(int64_t y, int64_t count) {
    (void)y;
    (void)count;
  }

  void run_rows();
  void run_resampled_rows();
  // Makes the rows of the image by `make(y, count, to, stride)` and takes them through the tail.
  template <typename Make>
  void take_rows(int64_t at_once, const Make& make);

  const ImageChain& chain_;
  SampleContext& own_;
  int channels_ = 0;
  const char* image_ = nullptr;  // pixel (first_row_, first_column_) of it
  int64_t stride_ = 0;
  bool in_place_ = false;  // the image is the output
  std::unique_ptr<RowSink> sink_;
  Tensor* result_ = nullptr;

 private:
  void take_input();
  void run_copied_rows();
  void run_pixel_steps(const Tensor& band, int64_t y);
  void finish_band(const Tensor& band, int64_t y);
  char* result_row(int64_t y) const;

  std::optional<ResamplePlan> plan_;
  std::optional<ResampledPlanes> planes_;  // if the image comes as such
};

template <typename Make>
void ImageChainRun::take_rows(int64_t at_once, const Make& make) {
  const int64_t height = geometry_->height();
  const int64_t row_bytes = geometry_->width() * channels_ * size_of(geometry_->type());
  if (!has_tail()) {
    char* const output = declare_output(geometry_->type(), channels_).as<char>();
    for (int64_t y = 0; y < height; y += kMaxBandRows)
      make(y, std::min(kMaxBandRows, height - y), output + y * row_bytes, row_bytes);
    return;
  }
  int64_t rows = std::clamp<int64_t>(kBandBytes / std::max<int64_t>(row_bytes, 1), 1, kMaxBandRows);
  rows = (rows + at_once - 1) / at_once * at_once;
  char* const memory = own_.scratch<char>(kBandSlot, static_cast<size_t>(rows * row_bytes));
  Tensor band;
  band.data = memory;
  band.type = geometry_->type();
  band.layout = "HWC";
  for (int64_t y = 0; y < height; y += rows) {
    const int64_t count = std::min(rows, height - y);
    make(y, count, memory, row_bytes);
    band.shape = {count, geometry_->width(), channels_};
    if (chain_.pixels_.empty())
      finish_band(band, y);
    else
      run_pixel_steps(band, y);
  }
}

}  // namespace dali_core
