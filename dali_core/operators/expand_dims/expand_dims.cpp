// fn.expand_dims: elements stay where they are; dimensions enter the shape and the layout.
#include <string>

#include "dali_core/operator.hpp"
#include "dali_core/tensor.hpp"

namespace dali_core {

// `names[i]` is the letter of the new dimension at position i of the output, or 0 where a dimension
// of the input comes; `is_new` marks new ones. Layouts have letters only if `has_names`.
inline void add_dims(const bool (&is_new)[kMaxDims], const char (&names)[kMaxDims], int num_new,
                     bool has_names, Shape& shape, Layout& layout) {
  Shape expanded;
  Layout letters;
  int source = 0;
  const int ndim = shape.ndim + num_new;
  for (int i = 0; i < ndim; ++i) {
    if (has_names) letters.letters[i] = is_new[i] ? names[i] : layout[source];
    expanded.push_back(is_new[i] ? 1 : shape[source++]);
  }
  shape = expanded;
  layout = letters;
}

class ExpandDims : public ForwardingOperator {
 public:
  explicit ExpandDims(const OperatorConfig& config) {
    const auto axes = config.get<std::vector<int64_t>>("axes");
    const auto names = config.get<std::string>("new_axis_names");
    has_names_ = !names.empty();
    if (has_names_ && names.size() != axes.size())
      throw std::invalid_argument("new_axis_names must have a letter for each of the " +
                                  std::to_string(axes.size()) + " axes (got \"" + names +
                                  "\"). Pass as many letters.");
    for (size_t i = 0; i < axes.size(); ++i) {
      // They index: what the description allows is not relied on.
      if (axes[i] < 0 || axes[i] >= kMaxDims)
        throw std::invalid_argument("axes must be from 0 to 7 (got " + std::to_string(axes[i]) +
                                    "). Count from the first dimension of the output.");
      if (is_new_[axes[i]])
        throw std::invalid_argument("axes must be different from each other (got " +
                                    std::to_string(axes[i]) + " twice). Name each once.");
      is_new_[axes[i]] = true;
      if (has_names_) names_[axes[i]] = names[i];
      if (axes[i] > last_) last_ = static_cast<int>(axes[i]);
      ++num_new_;
    }
  }

  void run(SampleContext& sample) const override {
    const Tensor& input = sample.input(0);
    const int ndim = input.shape.ndim + num_new_;
    if (last_ >= ndim || ndim > kMaxDims)
      throw std::invalid_argument("axes must lie among the " + std::to_string(ndim) +
                                  " dimensions of the output, of which there are at most 8 (got " +
                                  std::to_string(last_) + " for an input of shape " +
                                  to_string(input.shape) + "). Choose smaller numbers.");
    if (has_names_ && input.layout.ndim() != input.shape.ndim)
      throw std::invalid_argument(
          "new_axis_names must go into a layout of the input (got an input without one). Give the "
          "layout where the data enters the pipeline.");
    Shape shape = input.shape;
    Layout layout = input.layout;
    if (num_new_ > 0) add_dims(is_new_, names_, num_new_, has_names_, shape, layout);
    sample.forward(0, input, shape, layout);
  }

 private:
  bool is_new_[kMaxDims] = {};
  char names_[kMaxDims] = {};
  int num_new_ = 0;
  int last_ = -1;
  bool has_names_ = false;
};

DALI_CORE_REGISTER_OPERATOR("expand_dims", ExpandDims)

}  // namespace dali_core
