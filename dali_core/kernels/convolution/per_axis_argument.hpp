// Arguments with one number for all data axes or one for each, constant, per sample or per frame.
#pragma once

#include <string>
#include <vector>

#include "dali_core/operator.hpp"

namespace dali_core {

template <typename T>
class PerAxisArgument {
 public:
  PerAxisArgument(const OperatorConfig& config, const std::string& name)
      : slot_(config.tensor_slot(name)), given_(config.has(name)), name_(name) {
    if (slot_ < 0 && given_) constant_ = config.get<std::vector<T>>(name);
  }

  bool given() const { return given_; }
  // The numbers of a constant argument, as they were given.
  const std::vector<T>& constant() const { return constant_; }
  bool is_per_frame(const SampleContext& sample) const {
    return slot_ >= 0 && sample.argument(slot_).layout[0] == 'F';
  }

  // The numbers for `num_axes` axes of a frame. Tensors whose layout begins with F have their own
  // for each of `num_frames` frames, or one entry for all of them; frames are not told apart where
  // `num_frames` is negative.
  std::vector<T> at(const SampleContext& sample, int num_axes, int64_t num_frames,
                    int64_t frame) const {
    std::vector<T> values = constant_;
    if (slot_ >= 0) values = slice(sample, sample.argument(slot_), num_frames, frame);
    const int count = static_cast<int>(values.size());
    if (count != num_axes && count != 1)
      throw std::invalid_argument(name_ + " must have one number, or one for each of the " +
                                  std::to_string(num_axes) + " data axes (got " +
                                  std::to_string(count) + "). Pass as many.");
    values.resize(num_axes, values[0]);
    return values;
  }

 private:
  std::vector<T> slice(const SampleContext& sample, const Tensor& tensor, int64_t num_frames,
                       int64_t frame) const {
    const bool per_frame = num_frames >= 0 && is_per_frame(sample);
    const int ndim = tensor.shape.ndim - (per_frame ? 1 : 0);
    if (ndim > 1)
      throw std::invalid_argument(name_ + " must be a scalar or one-dimensional (got shape " +
                                  to_string(tensor.shape) + "). Reshape it.");
    int64_t first = 0;
    int64_t count = tensor.num_elements();
    if (per_frame) {
      const int64_t entries = tensor.shape[0];
      if (entries != 1 && entries != num_frames)
        throw std::invalid_argument(name_ + " must have one entry, or one for each of the " +
                                    std::to_string(num_frames) + " frames (got " +
                                    std::to_string(entries) + "). Pass as many.");
      count /= entries;
      first = entries == 1 ? 0 : frame * count;
    }
    std::vector<T> values(static_cast<size_t>(count));
    visit_type(tensor.type, [&](auto zero) {
      using Stored = decltype(zero);
      for (int64_t i = 0; i < count; ++i) values[i] = convert<T>(tensor.as<Stored>()[first + i]);
    });
    return values;
  }

  int slot_;
  bool given_;
  std::vector<T> constant_;
  std::string name_;
};

}  // namespace dali_core
