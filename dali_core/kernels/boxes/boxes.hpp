// Bounding boxes: rows of four numbers.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include "dali_core/kernels/boxes/anchors.hpp"
#include "dali_core/tensor.hpp"

namespace dali_core {

// The number of boxes in a tensor of any shape whose rows are boxes.
inline int64_t count_boxes(const Tensor& boxes) {
  const int ndim = boxes.shape.ndim;
  if (boxes.type != DataType::kFloat || ndim == 0 || boxes.shape[ndim - 1] % 4 != 0)
    throw std::invalid_argument("boxes must be float32 with four numbers in a row (got " +
                                std::string(name_of(boxes.type)) + " of shape " +
                                to_string(boxes.shape) + "). Pass shape (number of boxes, 4).");
  return boxes.num_elements() / 4;
}

// The same, for a tensor that must be a table of boxes.
inline int64_t count_box_rows(const Tensor& boxes) {
  if (boxes.shape.ndim != 2 || boxes.shape[1] != 4 || boxes.type != DataType::kFloat)
    throw std::invalid_argument("boxes must be float32 of shape (number of boxes, 4) (got " +
                                std::string(name_of(boxes.type)) + " of shape " +
                                to_string(boxes.shape) + "). Reshape or cast them.");
  return boxes.shape[0];
}

// Labels are a number or a row for each box.
inline void check_labels(const Tensor& labels, int64_t num_boxes) {
  const int ndim = labels.shape.ndim;
  if (ndim == 0 || ndim > 2 || labels.shape[0] != num_boxes)
    throw std::invalid_argument("labels must be one for each of the " + std::to_string(num_boxes) +
                                " boxes, a number or a row (got shape " + to_string(labels.shape) +
                                "). Pass as many as boxes.");
}

}  // namespace dali_core
