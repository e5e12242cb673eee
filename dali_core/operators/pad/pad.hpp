// fn.pad: extents of the output, and which of its elements come from the input.
#pragma once

#include <cstdint>

#include "dali_core/host_device.hpp"

namespace dali_core {

// The least multiple of `align` that holds both the input and the extent that is asked for.
DC_HOST_DEV int64_t padded_extent(int64_t extent, int64_t least, int64_t align) {
  const int64_t larger = extent > least ? extent : least;
  return (larger + align - 1) / align * align;
}

// Whether a position along one dimension of the output lies beside the input.
DC_HOST_DEV bool is_padding(int64_t position, int64_t extent) { return position >= extent; }

}  // namespace dali_core
