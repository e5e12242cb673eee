// Operators that do to each frame of a sequence, or to each row, what they do to an image.
#pragma once

namespace dali_core {

// Where input 0 has a layout that starts with F, an operator that derives from this is run for each
// frame, and its results are put together. All frames have the sample's random numbers.
class EachFrame {
 public:
  virtual ~EachFrame() = default;
};

// Makes each row of the output from the same row of the input, and no other: in a chain of image
// operators it is run on several rows at once, as an image of its own.
class PixelStep {
 public:
  virtual ~PixelStep() = default;
};

}  // namespace dali_core
