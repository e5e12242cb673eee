#include <algorithm>
#include <cstring>

#include "dali_core/geometry.hpp"
#include "dali_core/kernels/jpeg/jpeg_distortion.hpp"
#include "dali_core/kernels/tasks/task_operator.hpp"

#define DC_SIMD_SOURCE "dali_core/kernels/jpeg/jpeg_distortion.inc.hpp"
#include "dali_core/simd_each_level.hpp"

namespace dali_core {
namespace {

enum ScratchSlot { kLuma, kChroma, kRows, kSums };

// ITU-T T.81, annex K.1: steps of the coefficients at quality 50, row by row.
constexpr int32_t kLumaSteps[kBlock * kBlock] = {16, 11, 10, 16, 24,  40,  51,  61,   //
                                                 12, 12, 14, 19, 26,  58,  60,  55,   //
                                                 14, 13, 16, 24, 40,  57,  69,  56,   //
                                                 14, 17, 22, 29, 51,  87,  80,  62,   //
                                                 18, 22, 37, 56, 68,  109, 103, 77,   //
                                                 24, 35, 55, 64, 81,  104, 113, 92,   //
                                                 49, 64, 78, 87, 103, 121, 120, 101,  //
                                                 72, 92, 95, 98, 112, 100, 103, 99};
constexpr int32_t kChromaSteps[kBlock * kBlock] = {17, 18, 24, 47, 99, 99, 99, 99,  //
                                                   18, 21, 26, 66, 99, 99, 99, 99,  //
                                                   24, 26, 56, 99, 99, 99, 99, 99,  //
                                                   47, 66, 99, 99, 99, 99, 99, 99,  //
                                                   99, 99, 99, 99, 99, 99, 99, 99,  //
                                                   99, 99, 99, 99, 99, 99, 99, 99,  //
                                                   99, 99, 99, 99, 99, 99, 99, 99,  //
                                                   99, 99, 99, 99, 99, 99, 99, 99};

// Steps of luma, and of chroma.
std::vector<int32_t> quantization_steps(int64_t quality) {
  quality = std::clamp<int64_t>(quality, 1, 100);
  const auto percent = static_cast<int32_t>(quality < 50 ? 5000 / quality : 200 - 2 * quality);
  std::vector<int32_t> steps;
  for (const int32_t* table : {kLumaSteps, kChromaSteps})
    for (int i = 0; i < kBlock * kBlock; ++i)
      steps.push_back(std::clamp((table[i] * percent + 50) / 100, 1, 255));
  return steps;
}

int64_t round_up(int64_t value, int64_t step) { return (value + step - 1) / step * step; }

// An image as JPEG sees it: luma, and chroma of half the resolution, both in whole blocks.
class JpegPlanes {
 public:
  JpegPlanes(SampleContext& sample, int64_t height, int64_t width)
      : height_(height),
        width_(width),
        luma_height_(round_up(height, kBlock)),
        luma_width_(round_up(width, kBlock)),
        chroma_height_(round_up(height, 2 * kBlock) / 2),
        chroma_width_(round_up(width, 2 * kBlock) / 2) {
    luma_ = sample.scratch<uint8_t>(kLuma, static_cast<size_t>(luma_height_ * luma_width_));
    const auto chroma_size = static_cast<size_t>(chroma_height_ * chroma_width_);
    chroma_[0] = sample.scratch<uint8_t>(kChroma, 2 * chroma_size);
    chroma_[1] = chroma_[0] + chroma_size;
    // Rows as long as those of chroma, doubled: at least as long as those of luma.
    row_size_ = 2 * chroma_width_;
    rows_ = sample.scratch<uint8_t>(kRows, static_cast<size_t>(5 * row_size_));
    sums_ = sample.scratch<int16_t>(kSums, static_cast<size_t>(chroma_width_ + 2));
  }

  void load(const uint8_t* rgb) {
    uint8_t* const luma_row = rows_;
    for (int64_t y = 0; y < height_; y += 2) {
      for (int64_t k = 0; k < 2; ++k) {
        // Of an odd number of rows, the last is repeated.
        const int64_t source = std::min(y + k, height_ - 1);
        DC_SIMD_DISPATCH(split_colors, rgb + source * width_ * 3, width_, row_size_, luma_row,
                         row(1 + k), row(3 + k));
        std::memcpy(luma_ + source * luma_width_, luma_row, static_cast<size_t>(luma_width_));
      }
      for (int c = 0; c < 2; ++c)
        DC_SIMD_DISPATCH(halve_rows, row(1 + 2 * c), row(2 + 2 * c),
                         chroma_[c] + y / 2 * chroma_width_, chroma_width_);
    }
    repeat_last_row(luma_, height_, luma_height_, luma_width_);
    for (uint8_t* plane : chroma_)
      repeat_last_row(plane, (height_ + 1) / 2, chroma_height_, chroma_width_);
  }

  // `steps` are those of luma, and of chroma.
  void distort(const int32_t* steps) {
    DC_SIMD_DISPATCH(distort_plane, luma_, luma_height_, luma_width_, steps);
    for (uint8_t* plane : chroma_)
      DC_SIMD_DISPATCH(distort_plane, plane, chroma_height_, chroma_width_,
                       steps + kBlock * kBlock);
  }

  void store(uint8_t* rgb) {
    for (int64_t y = 0; y < height_; ++y) {
      for (int c = 0; c < 2; ++c) double_chroma(chroma_[c], y, row(c));
      DC_SIMD_DISPATCH(join_colors, luma_ + y * luma_width_, row(0), row(1), rgb + y * width_ * 3,
                       width_);
    }
  }

 private:
  uint8_t* row(int64_t number) const { return rows_ + number * row_size_; }

  static void repeat_last_row(uint8_t* plane, int64_t height, int64_t padded_height,
                              int64_t width) {
    for (int64_t y = height; y < padded_height; ++y)
      std::memcpy(plane + y * width, plane + (height - 1) * width, static_cast<size_t>(width));
  }

  void double_chroma(const uint8_t* plane, int64_t y, uint8_t* out) const {
    const int64_t count = (width_ + 1) / 2;
    const uint8_t* const near = plane + y / 2 * chroma_width_;
    if (count <= 2) {
      // Decoders do not interpolate rows as short as this.
      for (int64_t i = 0; i < count; ++i) out[2 * i] = out[2 * i + 1] = near[i];
      return;
    }
    const int64_t other = std::clamp<int64_t>(y / 2 + (y % 2 ? 1 : -1), 0, (height_ + 1) / 2 - 1);
    DC_SIMD_DISPATCH(double_row, near, plane + other * chroma_width_, out, count, sums_);
  }

  int64_t height_, width_;
  int64_t luma_height_, luma_width_;
  int64_t chroma_height_, chroma_width_;
  int64_t row_size_;
  uint8_t* luma_;
  uint8_t* chroma_[2];
  uint8_t* rows_;
  int16_t* sums_;
};

}  // namespace

class JpegCompressionDistortion : public TaskOperator<JpegCompressionDistortion> {
 public:
  explicit JpegCompressionDistortion(const OperatorConfig& config) : quality_(config, "quality") {}

  struct Result : Inferred {
    std::vector<int32_t> steps;
  };

  Result infer(const SampleContext& sample) const {
    const Tensor& input = sample.input(0);
    const Layout layout = checked_layout(input);
    return {{input.type, input.shape, layout}, quantization_steps(quality_.at(sample))};
  }

  void run(SampleContext& sample) const override {
    const Tensor& input = sample.input(0);
    const Result result = infer(sample);
    Tensor& output = *sample.output(result);
    if (input.num_elements() == 0) return;
    const int ndim = input.shape.ndim;
    const int64_t frame_size = input.shape[ndim - 3] * input.shape[ndim - 2] * 3;
    JpegPlanes planes(sample, input.shape[ndim - 3], input.shape[ndim - 2]);
    for (int64_t first = 0; first < input.num_elements(); first += frame_size) {
      planes.load(input.as<uint8_t>() + first);
      planes.distort(result.steps.data());
      planes.store(output.as<uint8_t>() + first);
    }
  }

  struct Tasks {
    KernelTasks<JpegDistortionTask> blocks, pixels;

    void launch(DeviceBatch& batch) const {
      blocks.launch(batch, "distort_jpeg_blocks");
      pixels.launch(batch, "join_jpeg_planes");
    }
  };

  static void add(const Result& result, TaskData& data, Tasks& tasks) {
    const Tensor input = data.input();
    const int ndim = input.shape.ndim;
    const int64_t height = input.shape[ndim - 3], width = input.shape[ndim - 2];
    const int32_t* const steps = data.array(result.steps);
    const auto plane = [&](int64_t resolution, const int32_t* own) {
      const int64_t rows = round_up(height, resolution * kBlock) / (resolution * kBlock);
      const int64_t columns = round_up(width, resolution * kBlock) / (resolution * kBlock);
      const int64_t count = rows * columns;
      return JpegPlane{data.scratch<uint8_t>(count * kBlock * kBlock), columns * kBlock, count,
                       quick_divisor(columns), own};
    };
    for (int64_t first = 0; first < input.num_elements(); first += height * width * 3) {
      JpegDistortionTask task{};
      task.in = input.as<uint8_t>() + first;
      task.out = data.output().as<uint8_t>() + first;
      task.height = height;
      task.width = quick_divisor(width);
      task.luma = plane(1, steps);
      for (JpegPlane& chroma : task.chroma) chroma = plane(2, steps + kBlock * kBlock);
      tasks.blocks.add(task, task.luma.num_blocks + 2 * task.chroma[0].num_blocks);
      tasks.pixels.add(task, height * width);
    }
  }

 private:
  static Layout checked_layout(const Tensor& input) {
    if (input.type != DataType::kUInt8)
      throw std::invalid_argument("the input must be of type uint8 (got " +
                                  std::string(name_of(input.type)) + "). Use fn.cast.");
    const Layout layout = image_layout(input, "FHWC");
    if (layout != Layout("HWC") && layout != Layout("FHWC"))
      throw std::invalid_argument("the input's layout must be \"HWC\" or \"FHWC\" (got \"" +
                                  std::string(layout.c_str()) +
                                  "\"). Reorder the dimensions before this operator.");
    if (input.shape[input.shape.ndim - 1] != 3)
      throw std::invalid_argument("the input must have 3 channels (got shape " +
                                  to_string(input.shape) + "). Convert it to RGB before.");
    return layout;
  }

  Argument<int64_t> quality_;
};

DALI_CORE_REGISTER_OPERATOR("jpeg_compression_distortion", JpegCompressionDistortion)

}  // namespace dali_core
