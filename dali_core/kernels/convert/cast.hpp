// fn.cast: the rule for one element is convert() of dali_core/convert.hpp; host loops and device
// kernels share it.
#pragma once

#include <cstdint>

#include "dali_core/convert.hpp"

namespace dali_core {

// What the kernel `cast_elements` does for one sample.
struct CastTask {
  const void* in;
  void* out;
  int64_t count;
  DataType from;
  DataType to;
};

// How many groups of elements a thread takes at once (see element_groups.hpp).
constexpr int kCastGroups = 2;

}  // namespace dali_core
