// Arguments that may have a value of their own for each frame of a sequence.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "dali_core/operator.hpp"

namespace dali_core {

// Tensors whose layout starts with F have a slice for each frame.
inline bool is_per_frame(const Tensor& tensor) { return tensor.layout[0] == 'F'; }

// How many frames a tensor has; 0 if it is no sequence.
inline int64_t num_frames(const Tensor& tensor) {
  if (!is_per_frame(tensor)) return 0;
  if (tensor.shape[0] == 0)
    throw std::invalid_argument("sequences of arguments must have a frame (got shape " +
                                to_string(tensor.shape) + "). Leave out empty sequences.");
  return tensor.shape[0];
}

// Numbers that are constant, come with each sample, or come with each frame of it.
class FrameNumbers {
 public:
  // The numbers of one sample.
  class Values {
   public:
    // Numbers of one frame, and their shape.
    int64_t count() const { return shape_.num_elements(); }
    const Shape& shape() const { return shape_; }

    // How many frames have numbers of their own; 0 if all share the same.
    int64_t num_frames() const { return num_frames_; }
    const float* of(int64_t frame) const {
      return numbers_.data() + (num_frames_ > 1 ? frame * count() : 0);
    }

   private:
    friend class FrameNumbers;
    std::vector<float> numbers_;
    Shape shape_;
    int64_t num_frames_ = 0;
  };

  FrameNumbers(const OperatorConfig& config, const std::string& name)
      : slot_(config.tensor_slot(name)), given_(config.has(name)), name_(name) {
    if (slot_ < 0 && given_) {
      constant_.numbers_ = config.get<std::vector<float>>(name);
      constant_.shape_.push_back(static_cast<int64_t>(constant_.numbers_.size()));
    }
  }

  bool given() const { return given_; }
  bool is_constant() const { return slot_ < 0; }
  const std::string& name() const { return name_; }

  // Without a value there are no numbers.
  Values at(const SampleContext& sample) const {
    return slot_ < 0 ? constant_ : values_of(sample.argument(slot_));
  }

  static Values values_of(const Tensor& tensor) {
    Values values;
    values.num_frames_ = num_frames(tensor);
    for (int i = is_per_frame(tensor); i < tensor.shape.ndim; ++i)
      values.shape_.push_back(tensor.shape[i]);
    values.numbers_.resize(static_cast<size_t>(tensor.num_elements()));
    visit_type(tensor.type, [&](auto zero) {
      using Stored = decltype(zero);
      for (size_t i = 0; i < values.numbers_.size(); ++i)
        values.numbers_[i] = convert<float>(tensor.as<Stored>()[i]);
    });
    return values;
  }

 private:
  int slot_;
  bool given_;
  std::string name_;
  Values constant_;
};

// How many frames a sample has in all: every sequence has as many, or one that serves for all.
class FrameCount {
 public:
  void add(int64_t frames, const std::string& what) {
    if (frames == 0 || frames == count_) return;
    if (count_ > 1 && frames > 1)
      throw std::invalid_argument(what + " must have one value for each of the " +
                                  std::to_string(count_) + " frames, or one for all (got " +
                                  std::to_string(frames) + "). Pass as many as there are frames.");
    count_ = frames > count_ ? frames : count_;
  }

  bool is_sequence() const { return count_ > 0; }
  int64_t count() const { return count_ > 0 ? count_ : 1; }

 private:
  int64_t count_ = 0;
};

}  // namespace dali_core
