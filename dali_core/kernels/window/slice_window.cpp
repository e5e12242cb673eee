#include "dali_core/kernels/window/slice_window.hpp"

#include <cmath>
#include <stdexcept>

namespace dali_core {
namespace {

// Larger than any tensor, and sums of such numbers still fit.
constexpr double kFarAway = 1e15;

// Ends that arguments give are computed in float, and sums and inputs in double, as in the
// reference: it decides on which element 0.45 of 50 falls.
double in_float(double coordinate) { return static_cast<float>(coordinate); }

int64_t whole_element(double coordinate) {
  if (!(std::abs(coordinate) < kFarAway))
    throw std::invalid_argument("the window must have finite ends (got " +
                                std::to_string(coordinate) + "). Check how it is computed.");
  return std::llround(coordinate);
}

}  // namespace

Layout slice_layout(const Tensor& input) {
  static const char* const usual[] = {"", "", "HW", "HWC", "DHWC", "FDHWC"};
  const int ndim = input.shape.ndim;
  if (input.layout.empty()) return Layout(ndim < 6 ? usual[ndim] : "");
  if (input.layout.ndim() != ndim)
    throw std::invalid_argument("the input's layout must have one letter a dimension (got \"" +
                                std::string(input.layout.c_str()) + "\" for shape " +
                                to_string(input.shape) + "). Set a layout that fits.");
  return input.layout;
}

SliceArguments::SliceArguments(const OperatorConfig& config)
    : start_(config, "start"),
      end_(config, "end"),
      shape_(config, "shape"),
      axes_(config, "axes"),
      relative_start_(config, "rel_start"),
      relative_end_(config, "rel_end"),
      relative_shape_(config, "rel_shape"),
      axis_names_(config.get_or<std::string>("axis_names", axes_.given() ? "" : "WH")),
      normalized_anchor_(config.get<bool>("normalized_anchor")),
      normalized_shape_(config.get<bool>("normalized_shape")) {
  const bool is_named = start_.given() || relative_start_.given() || end_.given() ||
                        relative_end_.given() || shape_.given() || relative_shape_.given();
  if (is_named && config.num_inputs > 1)
    throw std::invalid_argument(
        "start, end and shape must not be combined with inputs for the window (got both). Pass "
        "the window in one way.");
  if (!is_named && config.num_inputs != 3)
    throw std::invalid_argument(
        "the window must be given by arguments or by two more inputs (got " +
        std::to_string(config.num_inputs - 1) + "). Pass start and shape, or start and end.");
}

Window SliceArguments::window(const SampleContext& sample, const Shape& shape,
                              const Layout& layout) const {
  Coordinates start, end, extent;
  if (sample.num_inputs() == 3) {
    const Tensor& anchor = sample.input(1);
    const Tensor& shape = sample.input(2);
    if (anchor.type != shape.type)
      throw std::invalid_argument("start and extent of the window must have the same type (got " +
                                  std::string(name_of(anchor.type)) + " and " +
                                  name_of(shape.type) + "). Cast one of them.");
    start = positional(anchor, normalized_anchor_);
    extent = positional(shape, normalized_shape_);
  } else {
    start = named(sample, start_, relative_start_);
    end = named(sample, end_, relative_end_);
    extent = named(sample, shape_, relative_shape_);
  }
  const std::vector<int> axes = axes_of(sample, shape, layout);
  Window window(shape);
  for (size_t i = 0; i < axes.size(); ++i) {
    const int axis = axes[i];
    const double from = start.values.empty() ? 0.0 : start.at(i, axes.size(), shape[axis], "start");
    const int64_t first = whole_element(start.is_computed_in_float ? in_float(from) : from);
    int64_t last = shape[axis];
    if (!end.values.empty()) {
      const double to = end.at(i, axes.size(), shape[axis], "end");
      last = whole_element(end.is_computed_in_float ? in_float(to) : to);
    } else if (!extent.values.empty()) {
      last = whole_element(from + extent.at(i, axes.size(), shape[axis], "shape"));
    }
    if (last < first)
      throw std::invalid_argument("the window must not end before its start (got " +
                                  std::to_string(first) + " to " + std::to_string(last) +
                                  "). Exchange the two.");
    window.start[axis] = first;
    window.extent[axis] = last - first;
  }
  return window;
}

double SliceArguments::Coordinates::at(size_t position, size_t num_axes, int64_t extent,
                                       const char* name) const {
  if (values.size() != 1 && values.size() != num_axes)
    throw std::invalid_argument(std::string(name) + " must be one number or one for each of the " +
                                std::to_string(num_axes) + " axes (got " +
                                std::to_string(values.size()) + "). Pass as many as axes.");
  const double value = values[values.size() == 1 ? 0 : position];
  return is_relative ? value * static_cast<double>(extent) : value;
}

SliceArguments::Coordinates SliceArguments::named(const SampleContext& sample,
                                                  const ListArgument<int64_t>& absolute,
                                                  const ListArgument<float>& relative) const {
  Coordinates coordinates;
  if (absolute.given()) {
    std::vector<int64_t> storage;
    const std::vector<int64_t>& values = absolute.at(sample, storage);
    coordinates.values.assign(values.begin(), values.end());
  } else if (relative.given()) {
    std::vector<float> storage;
    const std::vector<float>& values = relative.at(sample, storage);
    coordinates.values.assign(values.begin(), values.end());
    coordinates.is_relative = coordinates.is_computed_in_float = true;
  }
  return coordinates;
}

SliceArguments::Coordinates SliceArguments::positional(const Tensor& input, bool is_relative) {
  if (input.num_elements() == 0)
    throw std::invalid_argument("the window must be given by one number for each axis (got shape " +
                                to_string(input.shape) + "). Pass a number for each.");
  Coordinates coordinates;
  coordinates.is_relative = is_relative && input.type == DataType::kFloat;
  coordinates.values.resize(static_cast<size_t>(input.num_elements()));
  for (size_t i = 0; i < coordinates.values.size(); ++i) {
    if (input.type == DataType::kFloat)
      coordinates.values[i] = input.as<float>()[i];
    else if (input.type == DataType::kInt32)
      coordinates.values[i] = input.as<int32_t>()[i];
    else if (input.type == DataType::kInt64)
      coordinates.values[i] = static_cast<double>(input.as<int64_t>()[i]);
    else
      throw std::invalid_argument("the window must have type INT32, INT64 or FLOAT (got " +
                                  std::string(name_of(input.type)) + "). Cast it.");
  }
  return coordinates;
}

std::vector<int> SliceArguments::axes_of(const SampleContext& sample, const Shape& shape,
                                         const Layout& layout) const {
  std::vector<int> axes;
  if (axes_.given()) {
    std::vector<int64_t> storage;
    for (const int64_t axis : axes_.at(sample, storage)) {
      if (axis < -shape.ndim || axis >= shape.ndim)
        throw std::invalid_argument("axes must be from " + std::to_string(-shape.ndim) + " to " +
                                    std::to_string(shape.ndim - 1) + " (got " +
                                    std::to_string(axis) + "). Choose dimensions of the input.");
      axes.push_back(static_cast<int>(axis < 0 ? axis + shape.ndim : axis));
    }
  } else {
    for (const char name : axis_names_) {
      axes.push_back(layout.find(name));
      if (axes.back() < 0)
        throw std::invalid_argument("axis_names must be letters of the input's layout (got '" +
                                    std::string(1, name) + "' for layout \"" + layout.c_str() +
                                    "\"). Name other dimensions, or number them by axes.");
    }
  }
  bool is_named[kMaxDims] = {};
  for (const int axis : axes) {
    if (is_named[axis])
      throw std::invalid_argument("axes must be named once each (got dimension " +
                                  std::to_string(axis) + " twice). Name it once.");
    is_named[axis] = true;
  }
  if (axes.empty())
    for (int axis = 0; axis < shape.ndim; ++axis) axes.push_back(axis);
  return axes;
}

}  // namespace dali_core
