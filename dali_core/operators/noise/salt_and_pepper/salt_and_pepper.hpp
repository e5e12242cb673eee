// fn.noise.salt_and_pepper: what becomes of a pixel.
#pragma once

#include "dali_core/host_device.hpp"

namespace dali_core {

enum class Grain { kNone, kSalt, kPepper };

// `uniform` is a random number in [0, 1).
DC_HOST_DEV Grain draw_grain(float uniform, float probability_of_salt, float probability) {
  return uniform < probability_of_salt ? Grain::kSalt
         : uniform < probability       ? Grain::kPepper
                                       : Grain::kNone;
}

}  // namespace dali_core
