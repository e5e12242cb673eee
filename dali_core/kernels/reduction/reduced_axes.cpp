#include "dali_core/kernels/reduction/reduced_axes.hpp"

#include <stdexcept>
#include <string>

namespace dali_core {

ReducedAxes::ReducedAxes(const OperatorConfig& config)
    : given_(config.has("axes") || config.has("axis_names")),
      axes_(config.get_or<std::vector<int64_t>>("axes", {})),
      names_(config.get_or<std::string>("axis_names", "")),
      keep_dims_(config.get<bool>("keep_dims")) {}

void ReducedAxes::mark(const Tensor& input, bool (&is_reduced)[kMaxDims]) const {
  const int ndim = input.shape.ndim;
  for (int i = 0; i < ndim; ++i) is_reduced[i] = !given_;
  const auto mark_one = [&](int64_t axis, const std::string& text) {
    if (is_reduced[axis])
      throw std::invalid_argument("each dimension must be listed once (got " + text +
                                  " again). Remove it.");
    is_reduced[axis] = true;
  };
  for (const int64_t axis : axes_) {
    if (axis < -ndim || axis >= ndim)
      throw std::out_of_range("axes must be from " + std::to_string(-ndim) + " to " +
                              std::to_string(ndim - 1) + " (got " + std::to_string(axis) +
                              " for shape " + to_string(input.shape) +
                              "). List dimensions of the input.");
    mark_one(axis < 0 ? axis + ndim : axis, std::to_string(axis));
  }
  for (int i = 0; i < names_.ndim(); ++i) {
    const int axis = input.layout.find(names_[i]);
    if (axis < 0)
      throw std::invalid_argument("axis_names must be in the input's layout (got '" +
                                  std::string(1, names_[i]) + "' for layout \"" +
                                  input.layout.c_str() +
                                  "\"). Give the layout where the data enters the pipeline, or "
                                  "use axes.");
    mark_one(axis, std::string(1, names_[i]));
  }
}

Shape ReducedAxes::output_shape(const Tensor& input, const bool (&is_reduced)[kMaxDims]) const {
  Shape shape;
  for (int i = 0; i < input.shape.ndim; ++i) {
    if (!is_reduced[i])
      shape.push_back(input.shape[i]);
    else if (keep_dims_)
      shape.push_back(1);
  }
  return shape;
}

Layout ReducedAxes::output_layout(const Tensor& input, const bool (&is_reduced)[kMaxDims]) const {
  if (keep_dims_ || input.layout.ndim() != input.shape.ndim) return input.layout;
  Layout layout;
  int count = 0;
  for (int i = 0; i < input.shape.ndim; ++i)
    if (!is_reduced[i]) layout.letters[count++] = input.layout[i];
  return layout;
}

}  // namespace dali_core
