#include "dali_core/permutation.hpp"

#include "dali_core/simd.hpp"

#define DC_SIMD_SOURCE "dali_core/permutation_lanes.inc.hpp"
#include "dali_core/simd_each_level.hpp"

namespace dali_core {
namespace {

// Numbers that are encrypted at a time: as many as keep vector registers busy.
constexpr int kLanes = 64;

}  // namespace

void Permutation::list(uint64_t first, uint64_t count, int64_t* elements) const {
  if (size_ < 2) {
    for (uint64_t i = 0; i < count; ++i) elements[i] = static_cast<int64_t>(first + i);
    return;
  }
  uint64_t values[kLanes] = {}, places[kLanes];
  int filled = 0;
  for (uint64_t next = 0; next < count || filled > 0;) {
    for (; filled < kLanes && next < count; ++filled, ++next) {
      values[filled] = first + next;
      places[filled] = next;
    }
    DC_SIMD_DISPATCH(encrypt_lanes, values, kLanes, half_bits_, mask_, epoch_, key0_, key1_);
    int num_outside = 0;  // which walk on
    for (int i = 0; i < filled; ++i) {
      if (values[i] < size_) {
        elements[places[i]] = static_cast<int64_t>(values[i]);
      } else {
        values[num_outside] = values[i];
        places[num_outside++] = places[i];
      }
    }
    filled = num_outside;
  }
}

}  // namespace dali_core
