// ITU-T T.81, annex B; for the colours ITU-T T.871 (JFIF), and Adobe's technical note 5116.
#include "dali_core/kernels/jpeg/sequential_jpeg_file.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "dali_core/kernels/jpeg/jpeg_segments.hpp"

namespace dali_core {
namespace {

constexpr uint8_t kBaseline = 0xC0, kExtended = 0xC1, kHuffmanCodes = 0xC4, kStartOfScan = 0xDA,
                  kQuantization = 0xDB, kRestartInterval = 0xDD, kApp0 = 0xE0, kApp14 = 0xEE,
                  kApp15 = 0xEF, kComment = 0xFE;
constexpr int64_t kMaxSidePixels = 65500;  // of libjpeg
constexpr int kMaxGroupBlocks = 10;        // T.81, B.2.3

}  // namespace

#define FILL16 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63
const uint8_t kJpegOrder[192] = {
    0,  1,  8,  16, 9,      2,      3,      10,     17,     24,     32,     25,     18, 11, 4,
    5,  12, 19, 26, 33,     40,     48,     41,     34,     27,     20,     13,     6,  7,  14,
    21, 28, 35, 42, 49,     56,     57,     50,     43,     36,     29,     22,     15, 23, 30,
    37, 44, 51, 58, 59,     52,     45,     38,     31,     39,     46,     53,     60, 61, 54,
    47, 55, 62, 63, FILL16, FILL16, FILL16, FILL16, FILL16, FILL16, FILL16, FILL16,
};
#undef FILL16

bool SequentialJpegFile::read(const EncodedImage& encoded) {
  const uint8_t* const data = encoded.data;
  size_t position = 2;
  bool has_jfif = false, has_frame = false;
  int adobe_transform = -1;
  for (;;) {
    if (encoded.size - position < 4 || data[position] != 0xFF) return false;
    const uint8_t marker = data[position + 1];
    if (marker == 0xFF) {  // a fill byte
      ++position;
      continue;
    }
    const size_t length = read_big_endian(data + position + 2, 2);
    if (length < 2 || length > encoded.size - position - 2) return false;
    const uint8_t* const bytes = data + position + 4;
    const size_t size = length - 2;
    position += 2 + length;
    switch (marker) {
      case kQuantization:
        if (!read_quantization(bytes, size)) return false;
        break;
      case kHuffmanCodes:
        if (!read_codes(bytes, size)) return false;
        break;
      case kRestartInterval:
        if (size != 2) return false;
        restart_interval = read_big_endian(bytes, 2);
        break;
      case kBaseline:
      case kExtended:
        if (has_frame || !read_frame(bytes, size)) return false;
        has_frame = true;
        break;
      case kStartOfScan:
        if (!has_frame || !read_scan(bytes, size)) return false;
        scan = position;
        return choose_colours(has_jfif, adobe_transform);
      case kApp14:
        if (size >= 12 && std::memcmp(bytes, "Adobe", 5) == 0) adobe_transform = bytes[11];
        break;
      case kApp0:
        if (size >= 14 && std::memcmp(bytes, "JFIF\0", 5) == 0) has_jfif = true;
        break;
      case kComment:
        break;
      default:
        if (marker < kApp0 || marker > kApp15) return false;
    }
  }
}

bool SequentialJpegFile::read_quantization(const uint8_t* bytes, size_t size) {
  while (size > 0) {
    const int table = bytes[0] & 15, precision = bytes[0] >> 4;
    const size_t values = 64 * (1 + static_cast<size_t>(precision));
    if (table >= kTables || precision > 1 || size < 1 + values) return false;
    for (int i = 0; i < 64; ++i)
      quantization[table][kJpegOrder[i]] = static_cast<uint16_t>(
          precision == 0 ? bytes[1 + i] : read_big_endian(bytes + 1 + 2 * i, 2));
    has_quantization_[table] = true;
    bytes += 1 + values;
    size -= 1 + values;
  }
  return true;
}

bool SequentialJpegFile::read_codes(const uint8_t* bytes, size_t size) {
  constexpr size_t kHead = 17;
  while (size > 0) {
    if (size < kHead) return false;
    const int table = bytes[0] & 15, kind = bytes[0] >> 4;
    if (table >= kTables || kind > 1) return false;
    HuffmanDefinition& definition = kind == 0 ? dc[table] : ac[table];
    size_t symbols = 0;
    for (int length = 1; length <= 16; ++length) {
      definition.counts[length] = bytes[length];
      symbols += bytes[length];
    }
    if (symbols > 256 || size < kHead + symbols) return false;
    std::fill(std::begin(definition.symbols), std::end(definition.symbols), uint8_t{0});
    std::copy_n(bytes + kHead, symbols, definition.symbols);
    definition.is_defined = true;
    bytes += kHead + symbols;
    size -= kHead + symbols;
  }
  return true;
}

bool SequentialJpegFile::read_frame(const uint8_t* bytes, size_t size) {
  constexpr size_t kFixed = 6, kPerComponent = 3;
  constexpr int kPrecision = 8, kMaxSampling = 4;
  if (size < kFixed || bytes[0] != kPrecision) return false;
  height = read_big_endian(bytes + 1, 2);
  width = read_big_endian(bytes + 3, 2);
  num_components = bytes[5];
  if (height < 1 || width < 1 || height > kMaxSidePixels || width > kMaxSidePixels) return false;
  if (num_components != 1 && num_components != 3 && num_components != 4) return false;
  if (size != kFixed + kPerComponent * static_cast<size_t>(num_components)) return false;
  bytes += kFixed;
  int blocks = 0;
  for (int i = 0; i < num_components; ++i, bytes += kPerComponent) {
    SequentialComponent& part = components[i];
    part.identifier = bytes[0];
    part.horizontal = bytes[1] >> 4;
    part.vertical = bytes[1] & 15;
    part.quantization = bytes[2];
    for (int other = 0; other < i; ++other)
      if (components[other].identifier == part.identifier) return false;
    if (part.horizontal < 1 || part.vertical < 1 || part.horizontal > kMaxSampling ||
        part.vertical > kMaxSampling || part.quantization >= kTables)
      return false;
    // The blocks of an only component come one by one, whatever its factors.
    if (num_components == 1) part.horizontal = part.vertical = 1;
    horizontal = std::max(horizontal, part.horizontal);
    vertical = std::max(vertical, part.vertical);
    blocks += part.horizontal * part.vertical;
  }
  for (int i = 0; i < num_components; ++i)
    if (horizontal % components[i].horizontal != 0 || vertical % components[i].vertical != 0)
      return false;
  return blocks <= kMaxGroupBlocks;
}

bool SequentialJpegFile::read_scan(const uint8_t* bytes, size_t size) {
  if (size < 1 || bytes[0] != num_components) return false;
  const size_t selected = 2 * static_cast<size_t>(num_components);
  if (size != 4 + selected) return false;
  for (int i = 0; i < num_components; ++i) {
    SequentialComponent& part = components[i];
    const uint8_t* const choice = bytes + 1 + 2 * i;
    if (choice[0] != part.identifier) return false;
    part.dc_table = choice[1] >> 4;
    part.ac_table = choice[1] & 15;
    if (part.dc_table >= kTables || part.ac_table >= kTables) return false;
    if (!dc[part.dc_table].is_defined || !ac[part.ac_table].is_defined ||
        !has_quantization_[part.quantization])
      return false;
  }
  const uint8_t* const band = bytes + 1 + selected;
  return band[0] == 0 && band[1] == 63 && band[2] == 0;
}

bool SequentialJpegFile::choose_colours(bool has_jfif, int adobe_transform) {
  has_adobe = adobe_transform >= 0;
  if (num_components == 1) {
    colours = JpegColours::kGrey;
  } else if (num_components == 4) {
    if (has_adobe && adobe_transform != 0 && adobe_transform != 2) return false;
    colours = adobe_transform == 2 ? JpegColours::kYcck : JpegColours::kCmyk;
  } else if (has_jfif) {
    colours = JpegColours::kYCbCr;
  } else if (has_adobe) {
    if (adobe_transform > 1) return false;
    colours = adobe_transform == 0 ? JpegColours::kRgb : JpegColours::kYCbCr;
  } else {
    const bool is_rgb = components[0].identifier == 'R' && components[1].identifier == 'G' &&
                        components[2].identifier == 'B';
    colours = is_rgb ? JpegColours::kRgb : JpegColours::kYCbCr;
  }
  return true;
}

}  // namespace dali_core
