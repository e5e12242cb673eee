// Philox 4x32-10, a counter-based random generator: any draw of any sample in O(1), with no state.
// Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
#pragma once

#include <cmath>
#include <cstdint>

#include "dali_core/host_device.hpp"

namespace dali_core {

struct PhiloxBlock {
  uint32_t numbers[4];

  DC_HOST_DEV uint32_t& operator[](int i) { return numbers[i]; }
  DC_HOST_DEV uint32_t operator[](int i) const { return numbers[i]; }
  DC_HOST_DEV bool operator==(const PhiloxBlock& other) const {
    return numbers[0] == other[0] && numbers[1] == other[1] && numbers[2] == other[2] &&
           numbers[3] == other[3];
  }
};

DC_HOST_DEV PhiloxBlock philox4x32(PhiloxBlock counter, uint32_t key0, uint32_t key1) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t product0 = uint64_t{0xD2511F53u} * counter[0];
    const uint64_t product1 = uint64_t{0xCD9E8D57u} * counter[2];
    counter = {
        static_cast<uint32_t>(product1 >> 32) ^ counter[1] ^ key0, static_cast<uint32_t>(product1),
        static_cast<uint32_t>(product0 >> 32) ^ counter[3] ^ key1, static_cast<uint32_t>(product0)};
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  return counter;
}

// Spreads a 64-bit number over all 64 bits (the finaliser of SplitMix64, Steele et al. 2014).
DC_HOST_DEV uint64_t mix64(uint64_t x) {
  x += 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

// Uniform in [0, 1): 24 bits, so that every value is exact in float.
DC_HOST_DEV float uniform_float(uint32_t bits) { return static_cast<float>(bits >> 8) * 0x1p-24f; }

// What a random draw may depend on, and nothing else.
struct SampleKey {
  uint64_t epoch = 0;
  uint64_t sample = 0;  // position in the epoch's global order, or the running sample number
};

// The key of a place in a batch for one of many calls of an operator, which differ by a number.
DC_HOST_DEV SampleKey drawn_key(uint64_t draw, uint64_t place) {
  const uint64_t mixed = mix64(draw);
  return {mixed & 0xFFFFFFFFu, place ^ (mixed & 0xFFFFFFFF00000000u)};
}

// The stream of random numbers of one operator for one sample.
class RandomStream {
 public:
  DC_HOST_DEV RandomStream(uint64_t seed, SampleKey sample)
      : counter_{0, static_cast<uint32_t>(sample.epoch), static_cast<uint32_t>(sample.sample),
                 static_cast<uint32_t>(sample.sample >> 32)},
        key0_(static_cast<uint32_t>(seed)),
        key1_(static_cast<uint32_t>(seed >> 32)) {}

  DC_HOST_DEV uint32_t next_uint32() {
    if (used_ == 4) {
      block_ = philox4x32(counter_, key0_, key1_);
      ++counter_[0];
      used_ = 0;
    }
    return block_[used_++];
  }

  // Continues with the draw of this number, counted from the beginning.
  DC_HOST_DEV void seek(uint32_t draw) {
    counter_[0] = draw / 4;
    used_ = 4;
    for (uint32_t i = draw % 4; i > 0; --i) next_uint32();
  }

  DC_HOST_DEV uint64_t next_uint64() {
    const uint64_t low = next_uint32();
    return low | (static_cast<uint64_t>(next_uint32()) << 32);
  }

  DC_HOST_DEV float next_float() { return uniform_float(next_uint32()); }

  // Uniform in [0, 1) with 53 bits.
  DC_HOST_DEV double next_double() { return static_cast<double>(next_uint64() >> 11) * 0x1p-53; }

  DC_HOST_DEV float uniform(float low, float high) {
    const float value = low + next_float() * (high - low);
    // Rounding may reach `high`, which is outside the interval.
    return value < high || !(low < high) ? value : std::nextafter(high, low);
  }

  // Uniform in {0, ..., bound - 1}, without bias (Lemire 2019, multiply and reject).
  DC_HOST_DEV uint32_t next_below(uint32_t bound) {
    uint64_t product = uint64_t{next_uint32()} * bound;
    if (static_cast<uint32_t>(product) < bound) {
      const uint32_t threshold = (0u - bound) % bound;
      while (static_cast<uint32_t>(product) < threshold) product = uint64_t{next_uint32()} * bound;
    }
    return static_cast<uint32_t>(product >> 32);
  }

 private:
  PhiloxBlock counter_;
  PhiloxBlock block_{};
  uint32_t key0_, key1_;
  int used_ = 4;
};

}  // namespace dali_core
