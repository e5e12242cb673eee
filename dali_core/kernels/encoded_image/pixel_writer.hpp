// Takes rows as they are stored in a file and puts them where, and as what, the caller wants them:
// turned, as another type, in another colour model.
#pragma once

#include <cstdint>

#include "dali_core/kernels/encoded_image/image_types.hpp"

namespace dali_core {

enum class PixelChange : int8_t { kNone, kSwapRedBlue, kRgbToYCbCr };

// Rows as a codec gives them: interleaved, `channels` samples a pixel.
struct StoredPixels {
  DataType sample_type = DataType::kUInt8;
  int channels = 3;
  float range = 255.0f;  // sample that means full intensity
};

struct SampleRule;

class PixelWriter {
 public:
  // `height` and `width` are those of the part that gets written, as stored.
  PixelWriter(const StoredPixels& stored, PixelChange change, DataType dtype,
              const Orientation& orientation, int64_t height, int64_t width);

  // Whether stored rows are the output bit for bit, so that a codec may write into it directly.
  bool is_copy() const;

  int64_t stored_row_bytes() const;

  uint8_t* output() const { return output_; }
  void set_output(void* output) { output_ = static_cast<uint8_t*>(output); }

  // Writes `count` stored rows, `stride` bytes apart, of which the first is row `first` of the
  // part.
  void write(const void* rows, int64_t stride, int64_t first, int64_t count) const;

 private:
  // Writes a row whose samples stay as they are.
  void move_row(const void* in, void* out) const;
  // Writes a row by way of float; `values` has room for two blocks of samples.
  void compute_row(const SampleRule& rule, const void* in, void* out, float* values) const;

  StoredPixels stored_;
  PixelChange change_;
  DataType dtype_;
  Orientation orientation_;
  int64_t width_;
  // In elements of the output, for one step along a stored column, row, and for the first pixel.
  int64_t step_y_, step_x_, origin_;
  uint8_t* output_ = nullptr;
};

}  // namespace dali_core
