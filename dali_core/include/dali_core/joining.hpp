// What fn.cat and fn.stack share: checking an axis, and laying tensors side by side along it.
#pragma once

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>

#include "dali_core/operator.hpp"

namespace dali_core {

// `axis` counted from the front; negative numbers count from the last of `ndim` dimensions.
// Those from `ndim` to `last` are allowed as well.
inline int checked_axis(int64_t axis, int ndim, int last) {
  if (axis < -ndim || axis > last)
    throw std::invalid_argument("axis must be from " + std::to_string(-ndim) + " to " +
                                std::to_string(last) + " for inputs of " + std::to_string(ndim) +
                                " dimensions (got " + std::to_string(axis) +
                                "). Choose another one.");
  return static_cast<int>(axis);
}

// One letter, or 0 where `axis_name` is not given.
inline char axis_letter(const OperatorConfig& config) {
  if (!config.has("axis_name")) return 0;
  const auto name = config.get<std::string>("axis_name");
  if (name.size() != 1)
    throw std::invalid_argument("axis_name must be one letter (got \"" + name +
                                "\"). Pass a letter such as \"C\".");
  return name[0];
}

inline void check_same_kind(const SampleContext& sample) {
  const Tensor& first = sample.input(0);
  for (int i = 1; i < sample.num_inputs(); ++i) {
    const Tensor& other = sample.input(i);
    if (other.type != first.type || other.shape.ndim != first.shape.ndim)
      throw std::invalid_argument("inputs must have the same type and number of dimensions (got " +
                                  std::string(name_of(first.type)) + " of shape " +
                                  to_string(first.shape) + " and " + name_of(other.type) +
                                  " of shape " + to_string(other.shape) +
                                  "). Use fn.cast or fn.reshape.");
  }
}

// What comes of inputs side by side: each of `num_slices` parts has the next part of every input.
struct Joined {
  Shape shape;
  Layout layout;
  int64_t num_slices = 1;
  int only = -1;  // the input that is the whole result by itself
};

// Makes output 0. Nothing is copied if one input is the whole result.
inline void join(SampleContext& sample, const Joined& joined) {
  if (joined.only >= 0) {
    sample.forward(0, sample.input(joined.only), joined.shape, joined.layout);
    return;
  }
  Tensor& output = sample.output(0, sample.input(0).type, joined.shape, joined.layout);
  const int64_t num_slices = joined.num_slices;
  uint8_t* target = output.as<uint8_t>();
  const int64_t row = num_slices > 0 ? output.num_bytes() / num_slices : 0;
  int64_t offset = 0;
  for (int i = 0; i < sample.num_inputs(); ++i) {
    const Tensor& input = sample.input(i);
    const int64_t bytes = num_slices > 0 ? input.num_bytes() / num_slices : 0;
    if (bytes == 0) continue;
    const uint8_t* source = input.as<uint8_t>();
    for (int64_t slice = 0; slice < num_slices; ++slice)
      std::memcpy(target + slice * row + offset, source + slice * bytes,
                  static_cast<size_t>(bytes));
    offset += bytes;
  }
}

}  // namespace dali_core
