// ITU-T T.81, annex B; for the colours ITU-T T.871 (JFIF), and Adobe's technical note 5116.
#include "dali_core/kernels/jpeg/huffman_jpeg_file.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "dali_core/kernels/jpeg/jpeg_segments.hpp"

namespace dali_core {
namespace {

constexpr uint8_t kBaseline = 0xC0, kExtended = 0xC1, kProgressive = 0xC2, kHuffmanCodes = 0xC4,
                  kEndOfImage = 0xD9, kStartOfScan = 0xDA, kQuantization = 0xDB,
                  kRestartInterval = 0xDD, kApp0 = 0xE0, kApp14 = 0xEE, kApp15 = 0xEF,
                  kComment = 0xFE;
constexpr int64_t kMaxSidePixels = 65500;  // of libjpeg
// Coefficients of 10 bits, with zeros for bits that come later, then fit in 16.
constexpr int kMaxLowestBit = 5;

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

bool HuffmanJpegFile::read(const EncodedImage& encoded) {
  position = 2;
  std::memset(lowest_, kUnknown, sizeof lowest_);
  return read_segments(encoded) == Next::kScan && choose_colours();
}

HuffmanJpegFile::Next HuffmanJpegFile::read_on(const EncodedImage& encoded, size_t behind) {
  has_scan_ = true;
  position = behind;
  return read_segments(encoded);
}

HuffmanJpegFile::Next HuffmanJpegFile::read_segments(const EncodedImage& encoded) {
  const uint8_t* const data = encoded.data;
  for (;;) {
    if (encoded.size - position < 2 || data[position] != 0xFF) return Next::kUnsound;
    const uint8_t marker = data[position + 1];
    if (marker == 0xFF) {  // a fill byte
      ++position;
      continue;
    }
    if (marker == kEndOfImage) return has_scan_ ? Next::kEnd : Next::kUnsound;
    if (encoded.size - position < 4) return Next::kUnsound;
    const size_t length = read_big_endian(data + position + 2, 2);
    if (length < 2 || length > encoded.size - position - 2) return Next::kUnsound;
    const uint8_t* const bytes = data + position + 4;
    position += 2 + length;
    if (!read_segment(marker, bytes, length - 2)) return Next::kUnsound;
    if (marker == kStartOfScan) return Next::kScan;
  }
}

bool HuffmanJpegFile::read_segment(uint8_t marker, const uint8_t* bytes, size_t size) {
  switch (marker) {
    case kQuantization:
      // Those of the first scan are for all.
      return !has_scan_ && read_quantization(bytes, size);
    case kHuffmanCodes:
      return read_codes(bytes, size);
    case kRestartInterval:
      if (size != 2) return false;
      restart_interval = read_big_endian(bytes, 2);
      return true;
    case kBaseline:
    case kExtended:
    case kProgressive:
      if (has_frame_) return false;
      has_frame_ = true;
      is_progressive = marker == kProgressive;
      return read_frame(bytes, size);
    case kStartOfScan:
      return has_frame_ && read_scan(bytes, size) && has_what_scan_needs() && is_next_scan();
    case kComment:
      return true;
    default:
      return !has_scan_ && read_application(marker, bytes, size);
  }
}

bool HuffmanJpegFile::read_application(uint8_t marker, const uint8_t* bytes, size_t size) {
  if (marker == kApp14 && size >= 12 && std::memcmp(bytes, "Adobe", 5) == 0)
    adobe_transform_ = bytes[11];
  if (marker == kApp0 && size >= 14 && std::memcmp(bytes, "JFIF\0", 5) == 0) has_jfif_ = true;
  return marker >= kApp0 && marker <= kApp15;
}

bool HuffmanJpegFile::read_quantization(const uint8_t* bytes, size_t size) {
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

bool HuffmanJpegFile::read_codes(const uint8_t* bytes, size_t size) {
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

bool HuffmanJpegFile::read_frame(const uint8_t* bytes, size_t size) {
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
    HuffmanJpegComponent& part = components[i];
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

bool HuffmanJpegFile::read_scan(const uint8_t* bytes, size_t size) {
  if (size < 1 || bytes[0] < 1 || bytes[0] > num_components) return false;
  scan.num_components = bytes[0];
  const size_t selected = 2 * static_cast<size_t>(scan.num_components);
  if (size != 4 + selected) return false;
  int next = 0;
  for (int i = 0; i < scan.num_components; ++i) {
    const uint8_t* const choice = bytes + 1 + 2 * i;
    while (next < num_components && components[next].identifier != choice[0]) ++next;
    if (next == num_components) return false;
    components[next].dc_table = choice[1] >> 4;
    components[next].ac_table = choice[1] & 15;
    scan.components[i] = next++;
  }
  const uint8_t* const band = bytes + 1 + selected;
  scan.first = band[0];
  scan.last = band[1];
  scan.higher = band[2] >> 4;
  scan.lowest = band[2] & 15;
  if (is_progressive) return true;
  return scan.num_components == num_components && scan.first == 0 && scan.last == 63 &&
         band[2] == 0;
}

bool HuffmanJpegFile::has_what_scan_needs() const {
  const bool needs_dc = scan.has_means() && !scan.is_refinement();
  const bool needs_ac = !is_progressive || !scan.has_means();
  for (int i = 0; i < scan.num_components; ++i) {
    const HuffmanJpegComponent& part = components[scan.components[i]];
    if (part.dc_table >= kTables || part.ac_table >= kTables ||
        (needs_dc && !dc[part.dc_table].is_defined) ||
        (needs_ac && !ac[part.ac_table].is_defined) || !has_quantization_[part.quantization])
      return false;
  }
  return true;
}

// Whether a scan has the bits that come next, which it then notes.
bool HuffmanJpegFile::is_next_scan() {
  if (!is_progressive) return true;
  if (scan.has_means() ? scan.last != 0 : scan.last < scan.first || scan.last > 63) return false;
  if (!scan.has_means() && scan.num_components > 1) return false;
  if (scan.lowest > kMaxLowestBit) return false;
  if (scan.is_refinement() && scan.lowest != scan.higher - 1) return false;
  for (int i = 0; i < scan.num_components; ++i) {
    int8_t* const known = lowest_[scan.components[i]];
    // The means come first.
    if (!scan.has_means() && known[0] == kUnknown) return false;
    for (int k = scan.first; k <= scan.last; ++k) {
      if (known[k] != (scan.is_refinement() ? scan.higher : kUnknown)) return false;
      known[k] = static_cast<int8_t>(scan.lowest);
    }
  }
  return true;
}

bool HuffmanJpegFile::is_complete() const {
  return std::all_of(lowest_, lowest_ + num_components, [](const int8_t (&known)[64]) {
    return std::all_of(std::begin(known), std::end(known), [](int8_t bit) { return bit == 0; });
  });
}

bool HuffmanJpegFile::choose_colours() {
  has_adobe = adobe_transform_ >= 0;
  if (num_components == 1) {
    colours = JpegColours::kGrey;
  } else if (num_components == 4) {
    if (has_adobe && adobe_transform_ != 0 && adobe_transform_ != 2) return false;
    colours = adobe_transform_ == 2 ? JpegColours::kYcck : JpegColours::kCmyk;
  } else if (has_jfif_) {
    colours = JpegColours::kYCbCr;
  } else if (has_adobe) {
    if (adobe_transform_ > 1) return false;
    colours = adobe_transform_ == 0 ? JpegColours::kRgb : JpegColours::kYCbCr;
  } else {
    const bool is_rgb = components[0].identifier == 'R' && components[1].identifier == 'G' &&
                        components[2].identifier == 'B';
    colours = is_rgb ? JpegColours::kRgb : JpegColours::kYCbCr;
  }
  return true;
}

}  // namespace dali_core
