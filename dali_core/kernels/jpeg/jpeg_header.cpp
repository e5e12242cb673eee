// Orientation: Exif 2.32 (CIPA DC-008), sections 4.5 and 4.6.
#include "dali_core/kernels/jpeg/jpeg_header.hpp"

#include <cstring>
#include <utility>

namespace dali_core {
namespace {

constexpr uint8_t kStartOfImage = 0xD8, kEndOfImage = 0xD9, kApp1 = 0xE1;

// The numbers of an Exif segment, in its own byte order.
class TiffReader {
 public:
  TiffReader(const uint8_t* data, size_t size) : data_(data), size_(size) {
    little_endian_ = size >= 2 && data[0] == 'I' && data[1] == 'I';
    valid_ =
        size >= 8 && (little_endian_ || (data[0] == 'M' && data[1] == 'M')) && read(2, 2) == 42;
  }

  bool valid() const { return valid_; }
  bool contains(size_t position, size_t count) const {
    return position <= size_ && count <= size_ - position;
  }
  uint32_t read(size_t position, int count) const {
    if (!little_endian_) return read_big_endian(data_ + position, count);
    uint32_t value = 0;
    for (int i = count - 1; i >= 0; --i) value = value << 8 | data_[position + i];
    return value;
  }

 private:
  const uint8_t* data_;
  size_t size_;
  bool little_endian_ = false;
  bool valid_ = false;
};

Orientation read_exif_orientation(const uint8_t* segment, size_t size) {
  static const uint8_t kIdentifier[6] = {'E', 'x', 'i', 'f', 0, 0};
  if (size < sizeof kIdentifier || std::memcmp(segment, kIdentifier, sizeof kIdentifier) != 0)
    return {};
  const TiffReader tiff(segment + sizeof kIdentifier, size - sizeof kIdentifier);
  if (!tiff.valid()) return {};
  const size_t directory = tiff.read(4, 4);
  if (!tiff.contains(directory, 2)) return {};
  const uint32_t count = tiff.read(directory, 2);
  for (uint32_t i = 0; i < count; ++i) {
    const size_t entry = directory + 2 + size_t{12} * i;
    if (!tiff.contains(entry, 12)) return {};
    constexpr uint32_t kOrientationTag = 0x0112, kShort = 3;
    if (tiff.read(entry, 2) != kOrientationTag) continue;
    if (tiff.read(entry + 2, 2) != kShort || tiff.read(entry + 4, 4) != 1) return {};
    return Orientation::from_exif(static_cast<int>(tiff.read(entry + 8, 2)));
  }
  return {};
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
    if (segment->starts_scan()) return std::nullopt;
    if (segment->starts_frame()) {
      auto frame = read_jpeg_frame(*segment);
      if (!frame) return std::nullopt;
      header.frame = std::move(*frame);
      header.size = segment->end;
      return header;
    }
    if (segment->marker == kApp1 && !has_exif && segment->size >= 6 &&
        std::memcmp(segment->payload, "Exif", 4) == 0) {
      has_exif = true;
      header.orientation = read_exif_orientation(segment->payload, segment->size);
    }
  }
  return std::nullopt;
}

bool has_end_of_jpeg(const EncodedImage& encoded, size_t position) {
  for (size_t i = encoded.size; i >= position + 2; --i)
    if (encoded.data[i - 1] == kEndOfImage && encoded.data[i - 2] == 0xFF) return true;
  return false;
}

}  // namespace dali_core
