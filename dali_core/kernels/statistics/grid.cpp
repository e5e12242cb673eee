#include "dali_core/kernels/statistics/grid.hpp"

#include <stdexcept>

namespace dali_core {
namespace {

void reduce(ReducedDims& reduced, int axis) {
  if (reduced[axis])
    throw std::invalid_argument("axes must be named once each (got dimension " +
                                std::to_string(axis) + " twice). Name it once.");
  reduced[axis] = true;
}

}  // namespace

NormalizedAxes::NormalizedAxes(const OperatorConfig& config)
    : axes_(config.get_or<std::vector<int64_t>>("axes", {})),
      names_(config.get_or<std::string>("axis_names", "")),
      given_(config.has("axes") || config.has("axis_names")) {}

ReducedDims NormalizedAxes::reduced(const Tensor& input) const {
  const int ndim = input.shape.ndim;
  ReducedDims reduced;
  if (!given_)
    for (int i = 0; i < ndim; ++i) reduced[i] = true;
  for (const int64_t axis : axes_) {
    if (axis < -ndim || axis >= ndim)
      throw std::invalid_argument("axes must be from " + std::to_string(-ndim) + " to " +
                                  std::to_string(ndim - 1) + " (got " + std::to_string(axis) +
                                  " for shape " + to_string(input.shape) +
                                  "). Choose dimensions of the input.");
    reduce(reduced, static_cast<int>(axis < 0 ? axis + ndim : axis));
  }
  for (const char name : names_) {
    const int axis = input.layout.find(name);
    if (axis < 0 || axis >= ndim)
      throw std::invalid_argument("axis_names must be letters of the input's layout (got '" +
                                  std::string(1, name) + "' for layout \"" + input.layout.c_str() +
                                  "\"). Use axes where the data has no layout.");
    reduce(reduced, axis);
  }
  return reduced;
}

}  // namespace dali_core
