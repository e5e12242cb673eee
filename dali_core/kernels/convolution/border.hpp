// Border modes: the element of an image that stands for one beyond its border (host loops and
// device kernels share this).
#pragma once

#include <cstdint>

#include "dali_core/host_device.hpp"

namespace dali_core {

enum class Border {
  kReflect101,   // dcb|abcd|cba: the outermost element is the mirror
  kReflect1001,  // cba|abcd|dcb: the mirror is between the outermost element and its image
  kWrap,         // bcd|abcd|abc
  kClamp,        // aaa|abcd|ddd
  kConstant,     // a number that stands for all elements outside
};

// The place in [0, extent) that stands for `place`, for borders other than kConstant. However far
// outside `place` is, it is found in a few steps; `extent` is at least 1.
DC_HOST_DEV int64_t border_place(Border border, int64_t place, int64_t extent) {
  if (place >= 0 && place < extent) return place;
  if (border == Border::kClamp) return place < 0 ? 0 : extent - 1;
  int64_t period = extent;
  if (border == Border::kReflect101) {
    const int64_t mirrored = place < 0 ? -place : 2 * extent - 2 - place;
    if (mirrored >= 0 && mirrored < extent) return mirrored;  // nearly always, without a division
    period = extent > 1 ? 2 * extent - 2 : 1;
  }
  if (border == Border::kReflect1001) period = 2 * extent;
  place %= period;
  if (place < 0) place += period;
  if (place < extent) return place;
  return border == Border::kReflect101 ? period - place : period - 1 - place;
}

}  // namespace dali_core
