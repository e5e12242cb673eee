// PNG: third edition, section 11.3.4.5 (eXIf). WebP: RFC 9649, section 2.7.1.5.
#include "dali_core/native_io/image_decoding/stored_orientation.hpp"

#include <cstring>

#include "dali_core/kernels/encoded_image/exif.hpp"
#include "dali_core/kernels/jpeg/jpeg_header.hpp"
#include "dali_core/native_io/image_decoding/image_format.hpp"

namespace dali_core {
namespace {

uint32_t size_at(const EncodedImage& encoded, size_t position, bool big_endian) {
  const uint8_t* const bytes = encoded.data + position;
  return big_endian ? read_big_endian(bytes, 4)
                    : bytes[0] | uint32_t{bytes[1]} << 8 | uint32_t{bytes[2]} << 16 |
                          uint32_t{bytes[3]} << 24;
}

// PNG has size and name before the content and a checksum behind it; WebP has the name first, and
// content of an even size.
Orientation of_chunk(const EncodedImage& encoded, const char* wanted, size_t first, bool is_png) {
  for (size_t at = first; encoded.size >= at + 8;) {
    const size_t size = size_at(encoded, is_png ? at : at + 4, is_png);
    const uint8_t* const name = encoded.data + at + (is_png ? 4 : 0);
    const size_t content = at + 8;
    if (size > encoded.size - content) break;
    if (std::memcmp(name, wanted, 4) == 0)
      return read_exif_orientation(encoded.data + content, size);
    at = content + size + (is_png ? 4 : size % 2);
  }
  return {};
}

}  // namespace

Orientation stored_orientation(const EncodedImage& encoded, const Orientation& of_codec) {
  constexpr size_t kPngSignature = 8, kRiffHeader = 12;
  switch (format_of(encoded)) {
    case ImageFormat::kJpeg: {
      const auto header = read_jpeg_header(encoded);
      return header ? header->orientation : Orientation{};
    }
    case ImageFormat::kPng:
      return of_chunk(encoded, "eXIf", kPngSignature, true);
    case ImageFormat::kWebp:
      return of_chunk(encoded, "EXIF", kRiffHeader, false);
    case ImageFormat::kTiff: {
      constexpr uint8_t kClassic = 42;
      const bool is_classic = encoded.data[2] == kClassic || encoded.data[3] == kClassic;
      return is_classic ? read_exif_orientation(encoded.data, encoded.size) : of_codec;
    }
    default:
      return of_codec;
  }
}

}  // namespace dali_core
