// Frames of a sequence: what fn.sequence_rearrange and fn.element_extract share.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "dali_core/operator.hpp"

namespace dali_core {

// Shape and layout of one frame.
struct FrameKind {
  Shape shape;
  Layout layout;
};

inline FrameKind frame_kind(const Tensor& sequence) {
  if (sequence.shape.ndim < 1)
    throw std::invalid_argument(
        "the input must have a dimension of frames (got a scalar). Pass a sequence.");
  if (!sequence.layout.empty() && sequence.layout[0] != 'F')
    throw std::invalid_argument("the input's layout must start with F (got \"" +
                                std::string(sequence.layout.c_str()) +
                                "\"). Transpose it, or give it another layout.");
  FrameKind kind;
  for (int i = 1; i < sequence.shape.ndim; ++i) kind.shape.push_back(sequence.shape[i]);
  if (!sequence.layout.empty()) kind.layout = Layout(sequence.layout.c_str() + 1);
  return kind;
}

inline void check_frame(int64_t frame, const Tensor& sequence, const char* argument) {
  if (frame < 0 || frame >= sequence.shape[0])
    throw std::invalid_argument(std::string(argument) + " must have numbers of the " +
                                std::to_string(sequence.shape[0]) + " frames, from 0 on (got " +
                                std::to_string(frame) +
                                "). Leave it out, or make sequences longer.");
}

}  // namespace dali_core
