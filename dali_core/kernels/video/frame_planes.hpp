// One decoded frame as a codec leaves it: planes of luma and chroma, or of green, blue and red.
#pragma once

#include <cstdint>

namespace dali_core {

struct FramePlanes {
  int width = 0;  // of the coded picture, before `orientation`
  int height = 0;
  int num_planes = 3;      // 1: luma only
  int chroma_shift_x = 1;  // log2 of the subsampling: 4:2:0 has 1 and 1, 4:2:2 has 1 and 0
  int chroma_shift_y = 1;
  int bits = 8;  // of a value; above 8, values take two bytes, in the machine's order
  bool full_range = false;
  bool is_rgb = false;  // planes are green, blue, red
  uint8_t matrix = 2;   // MatrixCoefficients of ITU-T H.273; 2: not said
  int orientation = 1;  // by the numbers of Exif, 1 to 8: what makes the picture upright
  double seconds = 0;   // presentation time, since that of the first frame
  const uint8_t* data[3] = {};
  int64_t stride[3] = {};  // bytes
};

}  // namespace dali_core
