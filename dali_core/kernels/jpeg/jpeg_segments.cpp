#include "dali_core/kernels/jpeg/jpeg_segments.hpp"

#include <algorithm>
#include <cstring>

namespace dali_core {

constexpr uint8_t kLeastWithMeaning = 0xC0, kFirstRestart = 0xD0, kStartOfImage = 0xD8,
                  kEndOfImage = 0xD9;

uint32_t read_big_endian(const uint8_t* bytes, int count) {
  uint32_t value = 0;
  for (int i = 0; i < count; ++i) value = value << 8 | bytes[i];
  return value;
}

std::optional<JpegSegment> JpegSegments::next() {
  constexpr size_t kHead = 4;  // marker and length
  while (position_ < encoded_.size) {
    const void* found = std::memchr(encoded_.data + position_, 0xFF, encoded_.size - position_);
    if (found == nullptr) break;
    const uint8_t* head = static_cast<const uint8_t*>(found);
    position_ = static_cast<size_t>(head - encoded_.data);
    const size_t left = encoded_.size - position_;
    if (left < kHead || head[1] == kEndOfImage) break;
    const uint8_t marker = head[1];
    if (marker == 0xFF) {
      position_ += 1;
      continue;
    }
    // What is below is a byte of data, or reserved, which decoders pass over among data.
    if (marker < kLeastWithMeaning || (marker >= kFirstRestart && marker <= kStartOfImage)) {
      position_ += 2;
      continue;
    }
    // The length includes itself; where it does not, decoders continue behind it.
    const size_t length = std::max<size_t>(2, read_big_endian(head + 2, 2));
    if (length > left - 2) break;
    position_ += 2 + length;
    return JpegSegment{marker, head + kHead, length - 2, position_};
  }
  position_ = encoded_.size;
  return std::nullopt;
}

std::optional<JpegFrame> read_jpeg_frame(const JpegSegment& segment) {
  constexpr size_t kFixed = 6, kPerComponent = 3;
  if (segment.size < kFixed) return std::nullopt;
  const uint8_t* bytes = segment.payload;
  JpegFrame frame;
  frame.marker = segment.marker;
  frame.precision = bytes[0];
  frame.height = read_big_endian(bytes + 1, 2);
  frame.width = read_big_endian(bytes + 3, 2);
  frame.components.resize(bytes[5]);
  if (segment.size < kFixed + kPerComponent * frame.components.size()) return std::nullopt;
  bytes += kFixed;
  for (JpegComponent& component : frame.components) {
    component = {bytes[0], bytes[1] >> 4, bytes[1] & 15};
    if (component.horizontal == 0 || component.vertical == 0) return std::nullopt;
    bytes += kPerComponent;
  }
  return frame;
}

JpegKind jpeg_kind(const EncodedImage& encoded) {
  constexpr uint8_t kLossless = 0xC3, kArithmeticLossless = 0xCB, kHierarchy = 0xDE, kLs = 0xF7;
  constexpr int kBitsOfUsual = 8;
  JpegSegments segments(encoded);
  while (const auto segment = segments.next()) {
    if (segment->starts_scan()) break;
    if (segment->marker == kLs) return JpegKind::kLs;
    if (segment->marker == kHierarchy) return JpegKind::kHierarchical;
    if (!segment->starts_frame()) continue;
    const auto frame = read_jpeg_frame(*segment);
    if (!frame) break;
    const bool is_differential = (frame->marker & 7) > 4;
    if (is_differential) return JpegKind::kHierarchical;
    if (frame->precision != kBitsOfUsual) return JpegKind::kDeep;
    const bool is_lossless = frame->marker == kLossless || frame->marker == kArithmeticLossless;
    return is_lossless ? JpegKind::kLossless : JpegKind::kUsual;
  }
  return JpegKind::kUsual;
}

std::vector<int> read_jpeg_scan(const JpegSegment& segment) {
  constexpr size_t kPerComponent = 2;
  const size_t count = segment.size > 0 ? segment.payload[0] : 0;
  if (segment.size < 1 + kPerComponent * count) return {};
  std::vector<int> identifiers(count);
  for (size_t i = 0; i < count; ++i) identifiers[i] = segment.payload[1 + kPerComponent * i];
  return identifiers;
}

}  // namespace dali_core
