#include "dali_core/operators/stack/stack.hpp"

namespace dali_core {

class Stack : public Operator {
 public:
  explicit Stack(const OperatorConfig& config)
      : axis_(config.get_or<int64_t>("axis", 0)), letter_(axis_letter(config)) {}

  void run(SampleContext& sample) const override {
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
    const Shape shape = stacked(first.shape, axis, sample.num_inputs());
    Layout layout;
    if (letter_ != 0) {
      if (first.layout.ndim() != ndim)
        throw std::invalid_argument(
            "axis_name must go into a layout of the first input (got an input without one). Give "
            "the layout where the data enters the pipeline.");
      layout = stacked(first.layout, axis, letter_);
    }
    if (sample.num_inputs() == 1) {
      Tensor& output = sample.forward(0, first);
      output.shape = shape;
      output.layout = layout;
      return;
    }
    Tensor& output = sample.output(0, first.type, shape, layout);
    int64_t num_slices = 1;
    for (int dim = 0; dim < axis; ++dim) num_slices *= shape[dim];
    join(sample, num_slices, output);
  }

 private:
  int64_t axis_;
  char letter_;
};

DALI_CORE_REGISTER_OPERATOR("stack", Stack)

}  // namespace dali_core
