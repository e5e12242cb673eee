// Parameters of the kernels of noise for one sample.
#pragma once

#include <cstdint>

#include "dali_core/data_type.hpp"
#include "dali_core/philox.hpp"

namespace dali_core {

struct GaussianNoiseTask {
  const void* in;
  void* out;
  int64_t count;
  DataType type;
  float mean;
  float stddev;
  uint64_t seed;
  SampleKey key;
};

// Draws of random bits that are made together. Each makes four numbers, whose places are as far
// apart: draw i of a block makes numbers i, i + 64, i + 128 and i + 192 of it.
constexpr int kDraws = 64;
constexpr int kNormalsInBlock = 4 * kDraws;

enum class Grain { kNone, kSalt, kPepper };

// `uniform` is a random number in [0, 1).
DC_HOST_DEV Grain draw_grain(float uniform, float probability_of_salt, float probability) {
  return uniform < probability_of_salt ? Grain::kSalt
         : uniform < probability       ? Grain::kPepper
                                       : Grain::kNone;
}

// A pixel has its random number by its place among those of the sample, and `num_channels`
// elements, `num_inner` apart.
struct SaltAndPepperTask {
  const void* in;
  void* out;
  int64_t pixels;
  int64_t num_channels;
  int64_t num_inner;
  int64_t bytes;  // of an element
  uint64_t salt;  // elements
  uint64_t pepper;
  float probability_of_salt;
  float probability;
  uint64_t seed;
  SampleKey key;
};

}  // namespace dali_core
