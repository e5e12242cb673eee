// Markers: ITU-T T.81, annex B. Orientation: Exif 2.32 (CIPA DC-008), sections 4.5 and 4.6.
#include "dali_core/operators/decoders/jpeg_header.hpp"

#include <cstring>

namespace dali_core {
namespace {

constexpr uint8_t kStartOfImage = 0xD8, kEndOfImage = 0xD9, kStartOfScan = 0xDA, kApp1 = 0xE1;

uint32_t read_big_endian(const uint8_t* bytes, int count) {
  uint32_t value = 0;
  for (int i = 0; i < count; ++i) value = value << 8 | bytes[i];
  return value;
}

bool is_frame_marker(uint8_t marker) {
  // C4, C8 and CC are tables and an extension.
  return marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC;
}

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
  size_t position = 2;
  while (position + 4 <= encoded.size) {
    const uint8_t* bytes = encoded.data + position;
    if (bytes[0] != 0xFF) {
      ++position;  // bytes between segments are skipped, as libjpeg does
      continue;
    }
    const uint8_t marker = bytes[1];
    if (marker == 0xFF || marker == 0x00) {
      ++position;
      continue;
    }
    if (marker == kStartOfImage || (marker >= 0xD0 && marker <= 0xD7) || marker == 0x01) {
      position += 2;
      continue;
    }
    if (marker == kEndOfImage || marker == kStartOfScan) return std::nullopt;
    const size_t length = read_big_endian(bytes + 2, 2);
    if (length < 2 || length > encoded.size - position - 2) return std::nullopt;
    const uint8_t* payload = bytes + 4;
    if (is_frame_marker(marker)) {
      if (length < 8) return std::nullopt;
      header.precision = payload[0];
      header.height = read_big_endian(payload + 1, 2);
      header.width = read_big_endian(payload + 3, 2);
      header.components = payload[5];
      header.size = position + 2 + length;
      return header;
    }
    if (marker == kApp1 && !has_exif && length >= 8 && std::memcmp(payload, "Exif", 4) == 0) {
      has_exif = true;
      header.orientation = read_exif_orientation(payload, length - 2);
    }
    position += 2 + length;
  }
  return std::nullopt;
}

bool has_end_of_jpeg(const EncodedImage& encoded, size_t position) {
  for (size_t i = encoded.size; i >= position + 2; --i)
    if (encoded.data[i - 1] == kEndOfImage && encoded.data[i - 2] == 0xFF) return true;
  return false;
}

}  // namespace dali_core
