// fn.flip: which input position lands on an output position (host loops and device kernels share
// this).
#pragma once

#include <cstdint>

#include "dali_core/host_device.hpp"

namespace dali_core {

// Position along one dimension in the input.
DC_HOST_DEV int64_t flip_source(int64_t position, int64_t extent, bool flipped) {
  return flipped ? extent - 1 - position : position;
}

}  // namespace dali_core
