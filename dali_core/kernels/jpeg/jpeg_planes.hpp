// The samples of a JPEG file, a few rows at a time: transforms the groups of blocks (MCUs) that a
// region needs, and gives rows of components at the size of the image. Of a sequential file, these
// are read when they are needed; of a progressive one, all coefficients are read first.
#pragma once

#include <memory>

#include "dali_core/kernels/image_chain/plane_sink.hpp"
#include "dali_core/kernels/jpeg/progressive_scans.hpp"
#include "dali_core/kernels/jpeg/sequential_scan.hpp"

namespace dali_core {

// What is wanted of a file.
struct JpegPart {
  static constexpr int kFullSide = 8;

  int side = kFullSide;    // of what blocks become, where components have the size of the image
  CropWindow region;       // inside the image of that size
  int num_components = 3;  // the others are not needed
  bool is_fast = false;    // which transform
  bool is_grown = true;    // whether components get the size of the image

  // Of the image, from what the file says.
  int64_t size_of(int64_t full) const { return (full * side + kFullSide - 1) / kFullSide; }
};

class JpegPlanes {
 public:
  // The size of a component that is not grown, in the image that `side` makes.
  static PlaneSize size_of(const HuffmanJpegFile& file, int side, int component);

  // `file` has been read up to its first scan, and must outlive what follows, as must `known`:
  // points inside the scan of a sequential file, or null. If `notes`, more are noted.
  bool open(HuffmanJpegFile& file, const EncodedImage& encoded, const JpegPart& part,
            const ScanPoints* known = nullptr, bool notes = false);

  // Points `rows` at row `y` of the region, of each wanted component, until the next call; unless
  // they are grown, at the samples that cover the pixels of that row. Rows come in their order.
  // False if the data are not sound.
  bool row(int64_t y, const uint8_t* rows[HuffmanJpegFile::kMaxComponents]);

  // False if the data ended before the region, or do not end where the image does. To be called
  // after the last row.
  bool finish();

  // Points that follow those known, if `finish` is true.
  const ScanPoints& noted() const { return scan_.noted(); }

  // Keeps no more memory than usual images need.
  void release();

 private:
  enum class Growth : int8_t { kNone, kWiden, kWidenBoth, kBlendRows, kRepeat };

  // A component's samples in the columns that the region needs, for two rows of MCUs.
  struct Plane {
    Growth growth = Growth::kNone;
    int side = 8;         // of what a block becomes
    PlaneSize size;       // of the whole component, without padding
    int64_t first = 0;    // column of the first sample that is kept
    int64_t columns = 0;  // that are kept, as far as they are in the component
    int64_t blocks = 0;   // in a row
    int64_t stride = 0;
    int64_t num_rows = 0;  // that fit
    GrowingMemory<uint8_t> samples;
    GrowingMemory<int16_t> coefficients;  // of a row of MCUs; of a sequential file only
    GrowingMemory<uint8_t> counts;
    GrowingMemory<uint8_t> grown;  // one row at full size
    int16_t fast_steps[64];
  };

  // What a block of the component becomes.
  static int side_of(const HuffmanJpegFile& file, int side, const HuffmanJpegComponent& component);
  Growth growth_of(const Plane& plane) const;
  void plan(Plane& plane, const HuffmanJpegComponent& component);
  bool read_group_row();
  bool transform_group_row();
  // A row of the component's blocks, and how many coefficients each may have.
  bool transform(int component, int64_t row, int16_t* blocks, uint8_t* counts);
  const uint8_t* sample_row(const Plane& plane, int64_t y) const;
  const uint8_t* grow(Plane& plane, int64_t y);

  const HuffmanJpegFile* file_ = nullptr;
  SequentialScan scan_;
  ProgressiveScans scans_;
  Plane planes_[HuffmanJpegFile::kMaxComponents];
  JpegPart part_;
  int64_t height_ = 0;      // of the image as it is decoded
  int64_t rows_below_ = 0;  // of pixels, whose samples a row of pixels needs, too
  int64_t group_rows_ = 0, group_columns_ = 0;
  int64_t next_group_row_ = 0;
  int64_t first_group_ = 0, last_group_ = 0;  // columns that are read
};

}  // namespace dali_core
