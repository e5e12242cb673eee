// Vocabulary of image decoding: what is asked for, what is known of a file, where pixels go.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "dali_core/kernels/image_chain/image_sink.hpp"
#include "dali_core/types.hpp"

namespace dali_core {

// The numbers are part of the public API (`types.DALIImageType`).
enum class ImageType : int8_t { kRGB = 0, kBGR = 1, kGray = 2, kYCbCr = 3, kAnyData = 4 };

struct EncodedImage {
  const uint8_t* data = nullptr;
  size_t size = 0;
};

// How a stored image is turned before it is shown: first transposed, then mirrored. The eight
// combinations are the eight Exif orientations (CIPA DC-008, tag 0x0112).
struct Orientation {
  bool transpose = false;
  bool flip_y = false;
  bool flip_x = false;

  bool is_identity() const { return !transpose && !flip_y && !flip_x; }

  static Orientation from_exif(int value) {
    switch (value) {
      case 2:
        return {false, false, true};
      case 3:
        return {false, true, true};
      case 4:
        return {false, true, false};
      case 5:
        return {true, false, false};
      case 6:
        return {true, false, true};
      case 7:
        return {true, true, true};
      case 8:
        return {true, true, false};
      default:
        return {};
    }
  }
};

// What a file's header says. Height and width are those of the stored image.
struct ImageInfo {
  std::string format;
  int64_t height = 0;
  int64_t width = 0;
  int channels = 0;
  DataType sample_type = DataType::kUInt8;
  Orientation orientation;
};

struct ImageRequest {
  ImageType output_type = ImageType::kRGB;
  DataType dtype = DataType::kUInt8;
  bool adjust_orientation = true;
  bool fast_dct = false;  // of JPEG: the less accurate inverse transform
  bool scaled = false;    // of JPEG: shrink while decoding, as far as the sink allows
  bool planar = false;    // of JPEG: give planes of luma and chroma to a sink that takes such
};

// Dimensions beyond this are taken for damage or an attack.
constexpr int64_t kMaxImagePixels = int64_t{1} << 30;

// Refuses dimensions that are out of bounds, or that so few bytes cannot plausibly describe: a
// header of 100 bytes must not make us reserve gigabytes.
inline void check_image_size(int64_t height, int64_t width, size_t num_bytes) {
  // Deflate packs 1032 to 1 at best, and a byte may hold 8 pixels.
  constexpr int64_t kMaxPixelsPerByte = 1032 * 8;
  constexpr int64_t kAlwaysPlausible = int64_t{1} << 26;
  const std::string size = std::to_string(height) + " x " + std::to_string(width);
  if (height <= 0 || width <= 0)
    throw std::runtime_error("an image must have at least one pixel (got " + size +
                             "). The file is damaged.");
  if (width > kMaxImagePixels / height)
    throw std::runtime_error("an image must have at most 2**30 pixels (got " + size +
                             "). Split it, or check the file.");
  const int64_t pixels = height * width;
  if (pixels > kAlwaysPlausible && pixels / kMaxPixelsPerByte > static_cast<int64_t>(num_bytes))
    throw std::runtime_error("a file must be long enough for its pixels (got " + size +
                             " pixels in " + std::to_string(num_bytes) +
                             " bytes). The file is damaged.");
}

}  // namespace dali_core
