// The segments of a JPEG file of 8-bit samples in Huffman codes, read strictly: whatever is out of
// the ordinary makes a file one for the libraries. Sequential files have all components in one
// scan, progressive ones (ITU-T T.81, annex G) many scans of a few coefficients each, or of a bit.
#pragma once

#include "dali_core/kernels/encoded_image/image_types.hpp"
#include "dali_core/kernels/jpeg/jpeg_huffman.hpp"

namespace dali_core {

enum class JpegColours : int8_t { kGrey, kYCbCr, kRgb, kCmyk, kYcck };

struct HuffmanJpegComponent {
  int identifier = 0;
  int horizontal = 1, vertical = 1;  // sampling factors
  int quantization = 0, dc_table = 0, ac_table = 0;
};

// What a scan has.
struct JpegScanHeader {
  int num_components = 0;
  int components[4] = {};      // in the order of the frame
  int first = 0, last = 63;    // coefficients, in the order in which they are coded
  int higher = 0, lowest = 0;  // bits: which were known before unless zero, and the last one here

  bool has_means() const { return first == 0; }
  // Whether it adds a bit to what earlier scans have.
  bool is_refinement() const { return higher > 0; }
};

struct HuffmanJpegFile {
  static constexpr int kMaxComponents = 4, kTables = 4;
  static constexpr int kMaxGroupBlocks = 10;  // T.81, B.2.3

  int64_t height = 0, width = 0;
  int num_components = 0;
  HuffmanJpegComponent components[kMaxComponents];
  int horizontal = 1, vertical = 1;  // largest sampling factors
  JpegColours colours = JpegColours::kYCbCr;
  bool has_adobe = false;
  int64_t restart_interval = 0;        // in groups of blocks; 0 for none
  uint16_t quantization[kTables][64];  // row by row
  HuffmanDefinition dc[kTables], ac[kTables];
  bool is_progressive = false;
  JpegScanHeader scan;
  size_t position = 0;  // where the entropy-coded data of the scan begin

  // Reads up to the first scan. False if the file is not one of these.
  bool read(const EncodedImage& encoded);

  enum class Next : int8_t { kScan, kEnd, kUnsound };
  // Reads on behind the data of a scan of a progressive file.
  Next read_on(const EncodedImage& encoded, size_t behind);
  // Whether the scans so far have all bits of all coefficients.
  bool is_complete() const;

  // Groups of blocks (MCUs) of a scan of all components.
  int64_t group_rows() const { return (height + 8 * vertical - 1) / (8 * vertical); }
  int64_t group_columns() const { return (width + 8 * horizontal - 1) / (8 * horizontal); }

 private:
  static constexpr int8_t kUnknown = -1;
  bool has_quantization_[kTables] = {};
  bool has_frame_ = false, has_scan_ = false, has_jfif_ = false;
  int adobe_transform_ = -1;
  int8_t lowest_[kMaxComponents][64];  // bit that is known, of each coefficient

  Next read_segments(const EncodedImage& encoded);
  bool read_segment(uint8_t marker, const uint8_t* bytes, size_t size);
  bool read_application(uint8_t marker, const uint8_t* bytes, size_t size);

  bool read_quantization(const uint8_t* bytes, size_t size);
  bool read_codes(const uint8_t* bytes, size_t size);
  bool read_frame(const uint8_t* bytes, size_t size);
  bool read_scan(const uint8_t* bytes, size_t size);
  bool has_what_scan_needs() const;
  bool is_next_scan();
  bool choose_colours();
};

// Place of the coefficients in their block, row by row, in the order in which they are coded;
// beyond the last one it is the last one.
extern const uint8_t kJpegOrder[192];

}  // namespace dali_core
