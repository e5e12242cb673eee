#include "dali_core/operators/cat/cat.hpp"

namespace dali_core {

class Cat : public Operator {
 public:
  explicit Cat(const OperatorConfig& config)
      : axis_(config.get_or<int64_t>("axis", 0)), letter_(axis_letter(config)) {
    if (config.has("axis") && config.has("axis_name"))
      throw std::invalid_argument(
          "at most one of axis and axis_name must be given (got both). Keep one.");
  }

  void run(SampleContext& sample) const override {
    check_same_kind(sample);
    const Tensor& first = sample.input(0);
    const int axis = axis_of(first);
    int only = -1;
    const Shape shape = concatenated(sample, axis, only);
    if (only >= 0) {
      sample.forward(0, sample.input(only)).layout = first.layout;
      return;
    }
    Tensor& output = sample.output(0, first.type, shape, first.layout);
    int64_t num_slices = 1;
    for (int dim = 0; dim < axis; ++dim) num_slices *= shape[dim];
    join(sample, num_slices, output);
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
