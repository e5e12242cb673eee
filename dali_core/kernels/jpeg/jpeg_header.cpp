#include "dali_core/kernels/jpeg/jpeg_header.hpp"

#include <cstring>
#include <utility>

#include "dali_core/kernels/encoded_image/exif.hpp"

namespace dali_core {
namespace {

constexpr uint8_t kStartOfImage = 0xD8, kEndOfImage = 0xD9, kApp1 = 0xE1;

bool is_exif(const JpegSegment& segment) {
  return segment.marker == kApp1 && segment.size >= 6 &&
         std::memcmp(segment.payload, "Exif\0", 6) == 0;
}

}  // namespace

bool looks_like_jpeg(const EncodedImage& encoded) {
  return encoded.size >= 3 && encoded.data[0] == 0xFF && encoded.data[1] == kStartOfImage &&
         encoded.data[2] == 0xFF;
}

std::optional<JpegHeader> read_jpeg_header(const EncodedImage& encoded) {
  JpegHeader header;
  bool has_exif = false;
  JpegSegments segments(encoded);
  while (const auto segment = segments.next()) {
    if (segment->starts_scan()) break;
    if (segment->starts_frame() && header.size == 0) {
      auto frame = read_jpeg_frame(*segment);
      if (!frame) return std::nullopt;
      header.frame = std::move(*frame);
      header.size = segment->end;
    }
    // It may follow the frame header, and comes before the first scan.
    if (!has_exif && is_exif(*segment)) {
      has_exif = true;
      header.orientation = read_exif_orientation(segment->payload, segment->size);
    }
  }
  if (header.size == 0) return std::nullopt;
  return header;
}

bool has_end_of_jpeg(const EncodedImage& encoded, size_t position) {
  for (size_t i = encoded.size; i >= position + 2; --i)
    if (encoded.data[i - 1] == kEndOfImage && encoded.data[i - 2] == 0xFF) return true;
  return false;
}

}  // namespace dali_core
