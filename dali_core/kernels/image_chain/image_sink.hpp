// The destination of an image while it is made: chooses the part that is wanted, then gives memory
// for it.
#pragma once

#include <cstdint>

#include "dali_core/kernels/window/random_crop.hpp"

namespace dali_core {

class ImageSink {
 public:
  virtual ~ImageSink() = default;

  // By how much, 1, 2, 4 or 8, an image of `height` x `width` as shown may be shrunk beforehand.
  // A decoder that shrinks says so by giving the smaller size to choose_region.
  virtual int allowed_shrinking(int64_t height, int64_t width) {
    (void)height;
    (void)width;
    return 1;
  }

  // The wanted part of an image that is `height` x `width` as shown; it must lie inside.
  virtual CropWindow choose_region(int64_t height, int64_t width) {
    return CropWindow{0, 0, height, width};
  }

  // Dense memory for height x width x channels elements of the requested type.
  virtual void* allocate(int64_t height, int64_t width, int channels) = 0;
};

}  // namespace dali_core
