// The segments of a JPEG file in the order in which a decoder meets them, and what those that
// describe the image say: ITU-T T.81, annex B.
#pragma once

#include <optional>
#include <vector>

#include "dali_core/kernels/encoded_image/image_types.hpp"

namespace dali_core {

struct JpegSegment {
  uint8_t marker = 0;                // its second byte
  const uint8_t* payload = nullptr;  // behind the length
  size_t size = 0;                   // of the payload
  size_t end = 0;                    // its place in the file

  bool starts_frame() const {
    // C4, C8 and CC are tables and an extension.
    return marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC;
  }
  bool starts_scan() const { return marker == 0xDA; }
};

// Passes over everything else: entropy-coded data, markers without a segment, and stray bytes.
class JpegSegments {
 public:
  explicit JpegSegments(const EncodedImage& encoded) : encoded_(encoded) {}

  // Nothing behind the image's end, or where a segment is cut off.
  std::optional<JpegSegment> next();

 private:
  const EncodedImage encoded_;
  size_t position_ = 2;  // behind the start of the image
};

struct JpegComponent {
  int identifier = 0;
  int horizontal = 1;  // sampling factors
  int vertical = 1;
};

// The frame header.
struct JpegFrame {
  uint8_t marker = 0;  // of its segment: the coding
  int precision = 8;
  int64_t height = 0;
  int64_t width = 0;
  std::vector<JpegComponent> components;

  // Whether each coefficient is coded at once, so that no scan has to be kept for a later one.
  bool is_sequential() const { return marker <= 0xC1 || marker == 0xC9; }
  bool is_arithmetic() const { return marker >= 0xC9; }
};

// Nothing if the segment is too short or a sampling factor is zero.
std::optional<JpegFrame> read_jpeg_frame(const JpegSegment& segment);

// What kind of JPEG a file is, as decoders differ in which they have.
enum class JpegKind : int8_t {
  kUsual,         // of 8-bit samples, sequential or progressive; also what has no sound header
  kLossless,      // the same without transform
  kDeep,          // of other than 8-bit samples
  kHierarchical,  // with frames that add to others
  kLs             // JPEG-LS, ITU-T T.87
};
JpegKind jpeg_kind(const EncodedImage& encoded);

// The identifiers of the components that a scan codes; none if the segment is too short.
std::vector<int> read_jpeg_scan(const JpegSegment& segment);

uint32_t read_big_endian(const uint8_t* bytes, int count);

}  // namespace dali_core
