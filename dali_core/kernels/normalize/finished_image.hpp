// An image that is finished: see FinishStep of image_chain.hpp.
#pragma once

#include <vector>

#include "dali_core/kernels/normalize/finished_channel.hpp"
#include "dali_core/types.hpp"

namespace dali_core {

// What a finish makes of an image of layout HWC, as plain data.
struct FinishedImage {
  DataType type;
  Shape shape;
  Layout layout;                          // the letters of HWC in any order
  std::vector<FinishedChannel> channels;  // of the output, which may have more than the image
};

}  // namespace dali_core
