// One draw of RandomStream::next_below() on its own.
#pragma once

#include <cstdint>

#include "dali_core/host_device.hpp"

namespace dali_core {

// How many of the 2^32 random numbers next_below() rejects.
DC_HOST_DEV uint32_t num_rejected(uint32_t bound) { return (0u - bound) % bound; }

// What next_below() makes of a random number, and whether it would rather draw another one.
DC_HOST_DEV uint32_t draw_below(uint32_t random, uint32_t bound, bool& is_rejected) {
  const uint64_t product = uint64_t{random} * bound;
  const uint32_t low = static_cast<uint32_t>(product);
  is_rejected = low < bound && low < num_rejected(bound);
  return static_cast<uint32_t>(product >> 32);
}

}  // namespace dali_core
