// Arguments that may have a value of their own for each frame of a sequence.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "dali_core/operator.hpp"

namespace dali_core {

// Tensors whose layout starts with F have a slice for each frame.
inline bool is_per_frame(const Tensor& tensor) { return tensor.layout[0] == 'F'; }

// How many frames a tensor has; 0 if it is no sequence.
int64_t num_frames(const Tensor& tensor);

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

  FrameNumbers(const OperatorConfig& config, const std::string& name);

  bool given() const { return given_; }
  bool is_constant() const { return slot_ < 0; }
  const std::string& name() const { return name_; }

  // Without a value there are no numbers.
  Values at(const SampleContext& sample) const {
    return slot_ < 0 ? constant_ : values_of(sample.argument(slot_));
  }

  static Values values_of(const Tensor& tensor);

 private:
  int slot_;
  bool given_;
  std::string name_;
  Values constant_;
};

// The frames of input 0 of a sample, for operators that know images only, with the arguments that
// each frame has.
class SampleFrames {
 public:
  // Whether any argument differs from frame to frame.
  static bool have_arguments(const SampleContext& sample);

  // Input 0 must be a sequence of one frame or more, with as many as the arguments have.
  explicit SampleFrames(const SampleContext& sample);

  int64_t count() const { return count_; }

  // Calls `function(frame)` with the context of a frame, which is valid meanwhile; output 0 goes to
  // `result`, to `slot` if it fits.
  template <typename Function>
  void visit(int64_t number, Tensor& result, const OutputSlot& slot, Function&& function) const {
    std::vector<Tensor> arguments;
    const Tensor image = slice(sample_.input(0), number);
    SampleContext frame = sample_.on(image, result, slot);
    bind_arguments(number, frame, arguments);
    function(frame);
  }

  // The same for what only reads the context.
  template <typename Function>
  void visit(int64_t number, Function&& function) const {
    Tensor nothing;
    visit(number, nothing, OutputSlot(), std::forward<Function>(function));
  }

  static Tensor slice(const Tensor& sequence, int64_t number);

  // What is made of a frame must be what is made of the first one.
  static void check_alike(DataType first_type, const Shape& first, DataType type,
                          const Shape& shape);

 private:
  void bind_arguments(int64_t number, SampleContext& frame, std::vector<Tensor>& arguments) const;

  const SampleContext& sample_;
  int64_t count_;
};

// How many frames a sample has in all: every sequence has as many, or one that serves for all.
class FrameCount {
 public:
  void add(int64_t frames, const std::string& what);

  bool is_sequence() const { return count_ > 0; }
  int64_t count() const { return count_ > 0 ? count_ : 1; }

 private:
  int64_t count_ = 0;
};

}  // namespace dali_core
