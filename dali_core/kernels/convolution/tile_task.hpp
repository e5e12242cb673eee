// Parameters of the kernel `convolve_tiles` for one sample: it convolves images of bytes along the
// width and the height without global memory for intermediate results.
#pragma once

#include <cstdint>

#include "dali_core/data_type.hpp"
#include "dali_core/host_device.hpp"
#include "dali_core/quick_division.hpp"

namespace dali_core {

// A block makes a tile of the output: so many numbers of so many rows.
constexpr int kConvolvedNumbers = 96;
constexpr int kConvolvedRows = 32;
constexpr int kConvolvedThreads = 256;
constexpr int64_t kMostSharedBytes = 48 << 10;
constexpr int64_t kMostTiledNumbers = (int64_t{1} << 31) - 1;  // of a row

struct TileTask {
  const uint8_t* input;
  void* output;
  const float* weights_down;
  const float* weights_across;
  int64_t size_down, size_across;  // of windows
  int64_t planes, height, width;
  int channels;  // 1 or 3
  DataType to;   // uint8 or float
  QuickDivisor tiles_down, tiles_across;

  int64_t tiles() const { return planes * tiles_down.divisor * tiles_across.divisor; }

  // The rows of the input that a tile needs, and their bytes, in whole words.
  DC_HOST_DEV int64_t covered_rows() const { return kConvolvedRows + size_down - 1; }
  DC_HOST_DEV int64_t covered_bytes() const {
    return (kConvolvedNumbers + (size_across - 1) * channels + 3) / 4 * 4;
  }

  // Sums along the width, and bytes.
  int64_t shared_bytes() const {
    return covered_rows() * (kConvolvedNumbers * int64_t{sizeof(float)} + covered_bytes());
  }
};

}  // namespace dali_core
