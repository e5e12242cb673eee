// A sequential JPEG file of 8-bit samples in Huffman codes, all components in one scan, read
// strictly: whatever is out of the ordinary makes a file one for the libraries.
#pragma once

#include "dali_core/kernels/encoded_image/image_types.hpp"
#include "dali_core/kernels/jpeg/jpeg_huffman.hpp"

namespace dali_core {

enum class JpegColours : int8_t { kGrey, kYCbCr, kRgb, kCmyk, kYcck };

struct SequentialComponent {
  int identifier = 0;
  int horizontal = 1, vertical = 1;  // sampling factors
  int quantization = 0, dc_table = 0, ac_table = 0;
};

struct SequentialJpegFile {
  static constexpr int kMaxComponents = 4, kTables = 4;

  int64_t height = 0, width = 0;
  int num_components = 0;
  SequentialComponent components[kMaxComponents];
  int horizontal = 1, vertical = 1;  // largest sampling factors
  JpegColours colours = JpegColours::kYCbCr;
  bool has_adobe = false;
  int64_t restart_interval = 0;        // in groups of blocks; 0 for none
  uint16_t quantization[kTables][64];  // row by row
  HuffmanDefinition dc[kTables], ac[kTables];
  size_t scan = 0;  // where the entropy-coded data begin

  // False if the file is not one of these.
  bool read(const EncodedImage& encoded);

 private:
  bool has_quantization_[kTables] = {};

  bool read_quantization(const uint8_t* bytes, size_t size);
  bool read_codes(const uint8_t* bytes, size_t size);
  bool read_frame(const uint8_t* bytes, size_t size);
  bool read_scan(const uint8_t* bytes, size_t size);
  bool choose_colours(bool has_jfif, int adobe_transform);
};

// Place of the coefficients in their block, row by row, in the order in which they are coded;
// beyond the last one it is the last one.
extern const uint8_t kJpegOrder[192];

}  // namespace dali_core
