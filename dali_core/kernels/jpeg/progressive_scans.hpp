// The coefficients of a progressive JPEG file, which many scans complete bit by bit. ITU-T T.81,
// annex G.
#pragma once

#include "dali_core/kernels/jpeg/huffman_jpeg_file.hpp"
#include "dali_core/kernels/jpeg/jpeg_scan_data.hpp"

namespace dali_core {

class ProgressiveScans {
 public:
  // Reads all scans of a file which has been read up to the first one. Nothing is kept of
  // components from `num_wanted` on. False if they are not sound or incomplete.
  bool read(HuffmanJpegFile& file, const EncodedImage& encoded, int num_wanted);

  // A row of blocks of 64 coefficients. One more than there are may be accessed.
  int16_t* blocks(int component, int64_t row) {
    const Coefficients& all = coefficients_[component];
    return all.blocks.get() + 64 * row * all.stride;
  }
  // Which coefficients of these are not zero, from the highest bit on in the order in which they
  // are coded. That of the first one is not used.
  const uint64_t* known(int component, int64_t row) const {
    const Coefficients& all = coefficients_[component];
    return all.known.get() + row * all.stride;
  }

  // Keeps at most so many bytes for the next file.
  void release_beyond(size_t bytes);

 private:
  struct Coefficients {
    bool is_wanted = false;
    int64_t rows = 0, columns = 0;  // of blocks of the component alone, without padding
    int64_t stride = 0;             // blocks in a row with padding, and one more
    GrowingMemory<int16_t> blocks;
    GrowingMemory<uint64_t> known;
  };

  void plan(int num_wanted);
  bool read_scan(const EncodedImage& encoded, size_t& position);
  bool read_means(JpegBits& bits, int64_t first_group, int64_t num_groups);
  bool refine_means(JpegBits& bits, int64_t first_group, int64_t num_groups);
  bool read_band(JpegBits& bits, int64_t first_block, int64_t num_blocks);
  bool refine_band(JpegBits& bits, int64_t first_block, int64_t num_blocks);

  template <typename Action>
  bool for_each_block(int64_t first_group, int64_t num_groups, const Action& action);

  const HuffmanJpegFile* file_ = nullptr;
  Coefficients coefficients_[HuffmanJpegFile::kMaxComponents];
  JpegScanData data_;
  HuffmanTable dc_[HuffmanJpegFile::kTables], ac_;
};

}  // namespace dali_core
