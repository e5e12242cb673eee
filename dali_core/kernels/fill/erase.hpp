// fn.erase: which positions along one dimension a region covers.
#pragma once

#include <cstdint>

#include "dali_core/host_device.hpp"
#include "dali_core/quick_division.hpp"

namespace dali_core {

// Positions from `start` up to, not including, `stop`; both inside the tensor.
struct ErasedRange {
  int64_t start;
  int64_t stop;
};

DC_HOST_DEV int64_t erased_limit(float position, int64_t extent) {
  // Compared as float: a position need not fit into an integer.
  if (!(position > 0)) return 0;
  return position < static_cast<float>(extent) ? static_cast<int64_t>(position) : extent;
}

DC_HOST_DEV ErasedRange erased_range(float anchor, float shape, bool is_centered, int64_t extent) {
  if (is_centered) anchor -= shape * 0.5f;
  return {erased_limit(anchor, extent), erased_limit(anchor + shape, extent)};
}

constexpr int kMaxErasedDims = 8;

// What the kernel `erase_regions` does for one sample. `ranges` has one for each dimension of each
// region.
struct EraseTask {
  const void* in;
  void* out;
  const ErasedRange* ranges;
  const uint64_t* values;
  int64_t count;
  int num_regions;
  int num_dims;
  int channel_axis;  // that values are for; -1 where there is one value
  int bytes;         // of an element
  QuickDivisor extents[kMaxErasedDims];
  // Lines of the last dimension that not all regions cover wholly, with all inside of it.
  int line_dim;
  QuickDivisor line_bytes;
  int64_t position_bytes;  // of one position along that dimension
};

}  // namespace dali_core
