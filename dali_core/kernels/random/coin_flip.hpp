// fn.random.coin_flip: how a random number becomes heads or tails.
#pragma once

#include <cstdint>

#include "dali_core/data_type.hpp"
#include "dali_core/host_device.hpp"
#include "dali_core/philox.hpp"

namespace dali_core {

// How many of the 2^32 random numbers are heads. Probabilities beyond 0 and 1 count as these.
DC_HOST_DEV uint64_t coin_flip_threshold(float probability) {
  if (!(probability > 0)) return 0;
  return static_cast<uint64_t>((probability < 1 ? static_cast<double>(probability) : 1.0) *
                               4294967296.0);
}

DC_HOST_DEV bool coin_flip(uint32_t random, uint64_t threshold) { return random < threshold; }

// What the kernel `flip_coins` does for one sample.
struct CoinFlipTask {
  void* out;
  int64_t count;
  uint64_t seed;
  SampleKey key;
  uint64_t threshold;
  DataType type;
};

}  // namespace dali_core
