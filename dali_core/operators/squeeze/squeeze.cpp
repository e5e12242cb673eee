// fn.squeeze: elements stay where they are; dimensions leave the shape and the layout.
#include "dali_core/operator.hpp"
#include "dali_core/tensor.hpp"

namespace dali_core {

inline void remove_dims(const bool (&removed)[kMaxDims], Shape& shape, Layout& layout) {
  Shape kept;
  Layout letters;
  for (int i = 0; i < shape.ndim; ++i) {
    if (removed[i]) continue;
    if (layout.ndim() == shape.ndim) letters.letters[kept.ndim] = layout[i];
    kept.push_back(shape[i]);
  }
  shape = kept;
  layout = letters;
}

class Squeeze : public ForwardingOperator {
 public:
  explicit Squeeze(const OperatorConfig& config)
      : axes_(config, "axes"), names_(config.get_or<std::string>("axis_names", "")) {
    if (axes_.given() == config.has("axis_names"))
      throw std::invalid_argument("either axes or axis_names must be given (got " +
                                  std::string(axes_.given() ? "both" : "none") + "). Pass one.");
  }

  void run(SampleContext& sample) const override {
    const Tensor& input = sample.input(0);
    bool removed[kMaxDims] = {};
    if (axes_.given()) {
      std::vector<int64_t> storage;
      for (int64_t axis : axes_.at(sample, storage)) {
        if (axis < 0 || axis >= input.shape.ndim)
          throw std::invalid_argument("axes must be dimensions of the input (got " +
                                      std::to_string(axis) + " for shape " +
                                      to_string(input.shape) + "). Count from 0.");
        remove(static_cast<int>(axis), input, removed);
      }
    } else {
      for (char name : names_) {
        const int axis = input.layout.find(name);
        if (axis < 0)
          throw std::invalid_argument("axis_names must be letters of the input's layout (got '" +
                                      std::string(1, name) + "' for layout \"" +
                                      input.layout.c_str() +
                                      "\"). Use axes where the data has no layout.");
        remove(axis, input, removed);
      }
    }
    Shape shape = input.shape;
    Layout layout = input.layout;
    remove_dims(removed, shape, layout);
    if (shape.num_elements() != input.num_elements())
      throw std::invalid_argument("removed dimensions must have extent 1 (got shape " +
                                  to_string(input.shape) + "). Choose others, or use fn.reshape.");
    sample.forward(0, input, shape, layout);
  }

 private:
  static void remove(int axis, const Tensor& input, bool (&removed)[kMaxDims]) {
    if (removed[axis])
      throw std::invalid_argument("each dimension must be removed once (got dimension " +
                                  std::to_string(axis) + " of shape " + to_string(input.shape) +
                                  " twice). Name it once.");
    removed[axis] = true;
  }

  ListArgument<int64_t> axes_;
  std::string names_;
};

DALI_CORE_REGISTER_OPERATOR("squeeze", Squeeze)

}  // namespace dali_core
