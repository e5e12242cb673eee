// Shared parts of targets that decode JPEG: a sink that keeps the pixels, of a region or of
// everything, at full size or a smaller one, and settings of a decoder from the input.
#pragma once

#include <stdexcept>

#include "dali_core/kernels/encoded_image/image_types.hpp"
#include "tests/fuzz/target.hpp"

namespace dali_core {

constexpr int64_t kMaxFuzzedPixels = 1 << 18;  // larger images only cost time

struct TooLarge : std::runtime_error {
  TooLarge() : std::runtime_error("too large") {}
};

class KeepingSink : public ImageSink {
 public:
  KeepingSink(int64_t element_size, bool is_part, Settings settings)
      : element_size_(element_size),
        is_part_(is_part),
        settings_(settings),
        shrinking_(1 << settings_.below(4)) {}

  int allowed_shrinking(int64_t height, int64_t width) override {
    if (height * width > kMaxFuzzedPixels) throw TooLarge();
    return shrinking_;
  }

  CropWindow choose_region(int64_t height, int64_t width) override {
    if (height * width > kMaxFuzzedPixels) throw TooLarge();
    shown_height = height;
    shown_width = width;
    region = CropWindow{0, 0, height, width};
    if (is_part_) {
      region.y = settings_.byte() * height / 256;
      region.x = settings_.byte() * width / 256;
      region.height = 1 + settings_.byte() * (height - region.y - 1) / 255;
      region.width = 1 + settings_.byte() * (width - region.x - 1) / 255;
    }
    return region;
  }

  void* allocate(int64_t height, int64_t width, int num_channels) override {
    FUZZ_CHECK(height == region.height && width == region.width);
    channels = num_channels;
    pixels.assign(static_cast<size_t>(height * width * channels * element_size_), 0);
    pixels.shrink_to_fit();
    return pixels.data();
  }

  int64_t pixel_bytes() const { return channels * element_size_; }

  CropWindow region{};
  int64_t shown_height = 0, shown_width = 0;
  int channels = 0;
  std::vector<uint8_t> pixels;

 private:
  int64_t element_size_;
  bool is_part_;
  Settings settings_;
  int shrinking_;
};

// Bytes of settings that a sink reads.
constexpr int kSinkSettings = 5;

// Reads the settings of a decoder.
inline ImageRequest draw_request(Settings& settings) {
  constexpr DataType kTypes[] = {DataType::kUInt8,   DataType::kInt8,   DataType::kUInt16,
                                 DataType::kInt16,   DataType::kUInt32, DataType::kInt32,
                                 DataType::kFloat16, DataType::kFloat};
  ImageRequest request;
  request.output_type = static_cast<ImageType>(settings.below(5));
  request.dtype = kTypes[settings.below(8)];
  request.adjust_orientation = settings.flag();
  request.fast_dct = settings.flag();
  request.scaled = true;
  return request;
}

// The part must equal a crop of the whole.
inline void check_part(const KeepingSink& part, const KeepingSink& whole) {
  FUZZ_CHECK(part.shown_height == whole.shown_height && part.shown_width == whole.shown_width);
  FUZZ_CHECK(part.channels == whole.channels);
  const int64_t pixel = whole.pixel_bytes();
  const size_t row = static_cast<size_t>(part.region.width * pixel);
  for (int64_t y = 0; y < part.region.height; ++y) {
    const int64_t first = (part.region.y + y) * whole.shown_width + part.region.x;
    FUZZ_CHECK(std::memcmp(part.pixels.data() + static_cast<size_t>(y) * row,
                           whole.pixels.data() + first * pixel, row) == 0);
  }
}

}  // namespace dali_core
