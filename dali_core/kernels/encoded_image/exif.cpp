// Exif 2.32 (CIPA DC-008), sections 4.5 and 4.6; types of values: TIFF 6.0, section 2, and BigTIFF.
#include "dali_core/kernels/encoded_image/exif.hpp"

#include <cstring>

namespace dali_core {
namespace {

constexpr uint32_t kOrientationTag = 0x0112;

enum class ValueKind : int8_t { kOther, kUnsigned, kSigned, kRational, kFloat };

struct ValueType {
  ValueKind kind = ValueKind::kOther;
  int bytes = 0;
};

// Text and bytes are no numbers.
ValueType type_of(uint32_t type) {
  switch (type) {
    case 3:
      return {ValueKind::kUnsigned, 2};
    case 4:
    case 13:
      return {ValueKind::kUnsigned, 4};
    case 16:
      return {ValueKind::kUnsigned, 8};
    case 6:
      return {ValueKind::kSigned, 1};
    case 8:
      return {ValueKind::kSigned, 2};
    case 9:
      return {ValueKind::kSigned, 4};
    case 5:
    case 10:
      return {ValueKind::kRational, 8};
    case 11:
      return {ValueKind::kFloat, 4};
    case 12:
      return {ValueKind::kFloat, 8};
    default:
      return {};
  }
}

// Numbers in the byte order that the data begin with.
class TiffReader {
 public:
  TiffReader(const uint8_t* data, size_t size) : data_(data), size_(size) {
    little_endian_ = size >= 2 && data[0] == 'I' && data[1] == 'I';
    valid_ =
        size >= 8 && (little_endian_ || (data[0] == 'M' && data[1] == 'M')) && read(2, 2) == 42;
  }

  bool valid() const { return valid_; }
  bool contains(uint64_t position, uint64_t count) const {
    return position <= size_ && count <= size_ - position;
  }
  uint64_t read(uint64_t position, int count) const {
    uint64_t value = 0;
    for (int i = 0; i < count; ++i)
      value =
          value << 8 | data_[position + static_cast<uint64_t>(little_endian_ ? count - 1 - i : i)];
    return value;
  }

  // A small whole number; 0 if it is another.
  int read_value(uint64_t position, const ValueType& type) const {
    constexpr uint64_t kMost = 8;
    const uint64_t bits = read(position, type.kind == ValueKind::kRational ? 4 : type.bytes);
    switch (type.kind) {
      case ValueKind::kUnsigned:
      case ValueKind::kSigned:  // small ones are not negative
        return bits <= kMost ? static_cast<int>(bits) : 0;
      case ValueKind::kRational: {
        const uint64_t divisor = read(position + 4, 4);
        const bool is_whole = divisor != 0 && bits % divisor == 0 && bits / divisor <= kMost;
        return is_whole ? static_cast<int>(bits / divisor) : 0;
      }
      case ValueKind::kFloat: {
        double value = 0;
        if (type.bytes == 8) {
          std::memcpy(&value, &bits, sizeof value);
        } else {
          const auto half = static_cast<uint32_t>(bits);
          float number;
          std::memcpy(&number, &half, sizeof number);
          value = number;
        }
        for (int whole = 1; whole <= static_cast<int>(kMost); ++whole)
          if (value == whole) return whole;
        return 0;
      }
      case ValueKind::kOther:
        break;
    }
    return 0;
  }

 private:
  const uint8_t* data_;
  size_t size_;
  bool little_endian_ = false;
  bool valid_ = false;
};

}  // namespace

Orientation read_exif_orientation(const uint8_t* data, size_t size) {
  static const uint8_t kIdentifier[6] = {'E', 'x', 'i', 'f', 0, 0};
  while (size >= sizeof kIdentifier && std::memcmp(data, kIdentifier, sizeof kIdentifier) == 0) {
    data += sizeof kIdentifier;
    size -= sizeof kIdentifier;
  }
  const TiffReader tiff(data, size);
  if (!tiff.valid()) return {};
  const uint64_t directory = tiff.read(4, 4);
  if (!tiff.contains(directory, 2)) return {};
  const uint64_t num_entries = tiff.read(directory, 2);
  for (uint64_t i = 0; i < num_entries; ++i) {
    const uint64_t entry = directory + 2 + 12 * i;
    if (!tiff.contains(entry, 12)) return {};
    if (tiff.read(entry, 2) != kOrientationTag) continue;
    const ValueType type = type_of(static_cast<uint32_t>(tiff.read(entry + 2, 2)));
    const uint64_t count = tiff.read(entry + 4, 4);
    if (type.kind == ValueKind::kOther || count == 0) return {};
    // The first of several values counts; what does not fit the entry is somewhere else.
    const uint64_t bytes = static_cast<uint64_t>(type.bytes) * count;
    const uint64_t position = bytes > 4 ? tiff.read(entry + 8, 4) : entry + 8;
    if (!tiff.contains(position, bytes)) return {};
    return Orientation::from_exif(tiff.read_value(position, type));
  }
  return {};
}

}  // namespace dali_core
