#include "dali_core/operators/decoders/image_slice/slice_window.hpp"

#include <cmath>

namespace dali_core {
namespace {

// Nobody has images that large, and sums of such numbers still fit.
constexpr double kFarAway = 1e15;

// Ends that arguments give are computed in float, and sums and inputs in double, as in the
// reference: it decides on which pixel 0.45 of 50 falls.
double in_float(double coordinate) { return static_cast<float>(coordinate); }

int64_t whole_pixel(double coordinate) {
  if (!(std::abs(coordinate) < kFarAway))
    throw std::invalid_argument("the window must have finite ends (got " +
                                std::to_string(coordinate) + "). Check how it is computed.");
  return std::llround(coordinate);
}

}  // namespace

SliceArguments::SliceArguments(const OperatorConfig& config)
    : start_(config, "start"),
      end_(config, "end"),
      shape_(config, "shape"),
      axes_(config, "axes"),
      relative_start_(config, "rel_start"),
      relative_end_(config, "rel_end"),
      relative_shape_(config, "rel_shape"),
      axis_names_(config.get_or<std::string>("axis_names", "")),
      normalized_anchor_(config.get_or<bool>("normalized_anchor", true)),
      normalized_shape_(config.get_or<bool>("normalized_shape", true)) {
  if (axes_.given() && !axis_names_.empty())
    throw std::invalid_argument(
        "axes must not be combined with axis_names (got both). Pass one of them.");
  if (!axes_.given() && axis_names_.empty()) axis_names_ = "WH";
  if (start_.given() && relative_start_.given())
    throw std::invalid_argument(
        "start must not be combined with rel_start (got both). Pass one of them.");
  const int num_ends =
      end_.given() + relative_end_.given() + shape_.given() + relative_shape_.given();
  if (num_ends > 1)
    throw std::invalid_argument("only one of end, rel_end, shape and rel_shape may be given (got " +
                                std::to_string(num_ends) + "). Pass one of them.");
  const bool is_named = num_ends > 0 || start_.given() || relative_start_.given();
  if (is_named && config.num_inputs > 1)
    throw std::invalid_argument(
        "start, end and shape must not be combined with inputs for the window (got both). Pass "
        "the window in one way.");
  if (!is_named && config.num_inputs != 3)
    throw std::invalid_argument(
        "the window must be given by arguments or by two more inputs (got " +
        std::to_string(config.num_inputs - 1) + "). Pass start and shape, or start and end.");
}

CropWindow SliceArguments::window(const SampleContext& sample, int64_t height,
                                  int64_t width) const {
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
  const std::vector<int> axes = axes_of(sample);
  int64_t first[2] = {0, 0};
  int64_t last[2] = {height, width};
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t whole = axes[i] == 0 ? height : width;
    const double from = start.values.empty() ? 0.0 : start.at(i, axes.size(), whole, "start");
    first[axes[i]] = whole_pixel(start.is_computed_in_float ? in_float(from) : from);
    if (!end.values.empty()) {
      const double to = end.at(i, axes.size(), whole, "end");
      last[axes[i]] = whole_pixel(end.is_computed_in_float ? in_float(to) : to);
    } else if (!extent.values.empty()) {
      last[axes[i]] = whole_pixel(from + extent.at(i, axes.size(), whole, "shape"));
    }
    if (last[axes[i]] < first[axes[i]])
      throw std::invalid_argument("the window must not end before its start (got " +
                                  std::to_string(first[axes[i]]) + " to " +
                                  std::to_string(last[axes[i]]) + "). Exchange the two.");
  }
  return CropWindow{first[0], first[1], last[0] - first[0], last[1] - first[1]};
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
  if (input.shape.ndim > 1 || input.num_elements() == 0)
    throw std::invalid_argument("the window must be given by one number for each axis (got shape " +
                                to_string(input.shape) + "). Pass one dimension.");
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

std::vector<int> SliceArguments::axes_of(const SampleContext& sample) const {
  std::vector<int> axes;
  if (axes_.given()) {
    std::vector<int64_t> storage;
    for (const int64_t axis : axes_.at(sample, storage)) {
      if (axis < -2 || axis > 1)
        throw std::invalid_argument("axes must be 0 (height) or 1 (width) (got " +
                                    std::to_string(axis) + "). Channels are never sliced.");
      axes.push_back(static_cast<int>(axis < 0 ? axis + 2 : axis));
    }
  } else {
    for (const char name : axis_names_) {
      if (name != 'H' && name != 'W')
        throw std::invalid_argument("axis_names must be of H and W (got \"" + axis_names_ +
                                    "\"). Channels are never sliced.");
      axes.push_back(name == 'W');
    }
  }
  if (axes.size() > 2 || (axes.size() == 2 && axes[0] == axes[1]))
    throw std::invalid_argument("axes must be named once each (got " + std::to_string(axes.size()) +
                                " with repetition). Name height and width once.");
  return axes;
}

}  // namespace dali_core
