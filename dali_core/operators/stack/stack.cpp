// fn.stack: shape and layout of tensors that are stacked along a new dimension.
#include "dali_core/kernels/joining/joining.hpp"

namespace dali_core {

inline Shape stacked(const Shape& part, int axis, int count) {
  Shape shape;
  for (int i = 0; i <= part.ndim; ++i) {
    if (i == axis) shape.push_back(count);
    if (i < part.ndim) shape.push_back(part[i]);
  }
  return shape;
}

inline Layout stacked(const Layout& part, int axis, char letter) {
  std::string letters = part.c_str();
  letters.insert(static_cast<size_t>(axis), 1, letter);
  return Layout(letters);
}

class Stack : public JoiningOperator<Stack> {
 public:
  explicit Stack(const OperatorConfig& config)
      : axis_(config.get<int64_t>("axis")), letter_(axis_letter(config)) {}

  Joined infer(const SampleContext& sample) const {
    check_same_kind(sample);
    const Tensor& first = sample.input(0);
    for (int i = 1; i < sample.num_inputs(); ++i)
      if (sample.input(i).shape != first.shape)
        throw std::invalid_argument("inputs must have the same shape (got " +
                                    to_string(sample.input(i).shape) + " in input " +
                                    std::to_string(i) + " after " + to_string(first.shape) +
                                    "). Crop, pad or resize them before.");
    const int ndim = first.shape.ndim;
    int axis = checked_axis(axis_, ndim, ndim);
    if (axis < 0) axis += ndim + 1;
    Joined joined;
    joined.type = first.type;
    joined.shape = stacked(first.shape, axis, sample.num_inputs());
    if (letter_ != 0) {
      if (first.layout.ndim() != ndim)
        throw std::invalid_argument(
            "axis_name must go into a layout of the first input (got an input without one). Give "
            "the layout where the data enters the pipeline.");
      joined.layout = stacked(first.layout, axis, letter_);
    }
    if (sample.num_inputs() == 1) joined.forwarded = 0;
    for (int dim = 0; dim < axis; ++dim) joined.num_slices *= joined.shape[dim];
    return joined;
  }

 private:
  int64_t axis_;
  char letter_;
};

DALI_CORE_REGISTER_OPERATOR("stack", Stack)

}  // namespace dali_core
