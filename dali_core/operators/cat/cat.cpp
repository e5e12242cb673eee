// fn.cat: shape of tensors that are concatenated along one of their dimensions.
#include "dali_core/kernels/joining/joining.hpp"

namespace dali_core {

// Tensors without elements are left out; if all are, the first one is the result. `only` becomes
// the number of the tensor that makes up the whole result, or -1.
inline Shape concatenated(const SampleContext& sample, int axis, int& only) {
  Shape shape = sample.input(0).shape;
  only = -1;
  int num_parts = 0;
  for (int i = 0; i < sample.num_inputs(); ++i) {
    const Shape& part = sample.input(i).shape;
    if (part.num_elements() == 0) continue;
    if (num_parts++ == 0) {
      shape = part;
      only = i;
      continue;
    }
    only = -1;
    for (int dim = 0; dim < shape.ndim; ++dim)
      if (dim != axis && part[dim] != shape[dim])
        throw std::invalid_argument("inputs must differ in extent along axis " +
                                    std::to_string(axis) + " only (got shape " + to_string(part) +
                                    " in input " + std::to_string(i) + " after " +
                                    to_string(shape) + "). Crop or pad them before.");
    shape[axis] += part[axis];
  }
  if (num_parts == 0) only = 0;
  return shape;
}

class Cat : public JoiningOperator<Cat> {
 public:
  explicit Cat(const OperatorConfig& config)
      : axis_(config.get_or<int64_t>("axis", 0)), letter_(axis_letter(config)) {}

  Joined infer(const SampleContext& sample) const {
    check_same_kind(sample);
    const Tensor& first = sample.input(0);
    const int axis = axis_of(first);
    Joined joined;
    joined.type = first.type;
    joined.shape = concatenated(sample, axis, joined.forwarded);
    joined.layout = first.layout;
    if (joined.forwarded >= 0) joined.shape = sample.input(joined.forwarded).shape;
    for (int dim = 0; dim < axis; ++dim) joined.num_slices *= joined.shape[dim];
    return joined;
  }

 private:
  int axis_of(const Tensor& first) const {
    const int ndim = first.shape.ndim;
    if (letter_ == 0) {
      const int axis = checked_axis(axis_, ndim, ndim - 1);
      return axis < 0 ? axis + ndim : axis;
    }
    const int axis = first.layout.find(letter_);
    if (axis < 0 || axis >= ndim)
      throw std::invalid_argument("axis_name must be a letter of the first input's layout (got '" +
                                  std::string(1, letter_) + "' for layout \"" +
                                  first.layout.c_str() +
                                  "\"). Use axis where the data has no layout.");
    return axis;
  }

  int64_t axis_;
  char letter_;
};

DALI_CORE_REGISTER_OPERATOR("cat", Cat)

}  // namespace dali_core
