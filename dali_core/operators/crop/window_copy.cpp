#include "dali_core/window_copy.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>

#include "dali_core/geometry.hpp"

namespace dali_core {
namespace {

// Copies dimension by dimension, down to runs that are contiguous on both sides.
template <typename To, typename From>
class Copier {
 public:
  Copier(const Shape& shape, const Window& window, OutOfBounds policy, int channel_axis,
         const std::vector<float>& fill_values)
      : shape_(shape),
        window_(window),
        policy_(policy),
        channel_axis_(channel_axis),
        input_strides_(dense_strides(shape)),
        output_strides_(dense_strides(window.extent)) {
    for (float value : fill_values) fill_.push_back({fill_value<To>(value)});
    last_cut_ = 0;
    for (int i = 0; i < shape_.ndim; ++i)
      if (window.start[i] != 0 || window.extent[i] != shape_[i]) last_cut_ = i;
  }

  void run(const From* in, To* out) const {
    if (shape_.ndim == 0)
      copy_run(in, out, 1);
    else
      copy(0, in, out, 0);
  }

 private:
  void copy(int dim, const From* in, To* out, int64_t channel) const {
    const int64_t start = window_.start[dim];
    const int64_t extent = window_.extent[dim];
    const int64_t first = std::clamp<int64_t>(-start, 0, extent);
    const int64_t last = std::clamp<int64_t>(shape_[dim] - start, first, extent);
    if (dim == last_cut_ && first < last)
      copy_run(in + window_source(first, start) * input_strides_[dim],
               out + first * output_strides_[dim], (last - first) * output_strides_[dim]);
    else
      for (int64_t i = first; i < last; ++i) copy_slice(dim, i, in, out, channel);
    copy_outside(dim, 0, first, in, out, channel);
    copy_outside(dim, last, extent, in, out, channel);
  }

  // Copies slice `i` of the window along one dimension.
  void copy_slice(int dim, int64_t i, const From* in, To* out, int64_t channel) const {
    int64_t source = window_source(i, window_.start[dim]);
    if (repeats_input(policy_)) source = repeated_source(source, shape_[dim], policy_);
    in += source * input_strides_[dim];
    out += i * output_strides_[dim];
    if (dim == last_cut_)
      copy_run(in, out, output_strides_[dim]);
    else
      copy(dim + 1, in, out, dim == channel_axis_ ? i : channel);
  }

  // Makes the slices [begin, end) of the window, which lie beside the input.
  void copy_outside(int dim, int64_t begin, int64_t end, const From* in, To* out,
                    int64_t channel) const {
    if (begin == end) return;
    if (repeats_input(policy_)) {
      for (int64_t i = begin; i < end; ++i) copy_slice(dim, i, in, out, channel);
      return;
    }
    fill(dim, out + begin * output_strides_[dim], out + end * output_strides_[dim],
         dim == channel_axis_ ? begin : channel);
  }

  static void copy_run(const From* in, To* out, int64_t count) {
    if constexpr (std::is_same_v<To, From>)
      std::memcpy(out, in, static_cast<size_t>(count) * sizeof(To));
    else
      for (int64_t i = 0; i < count; ++i) out[i] = window_convert<To>(in[i]);
  }

  // Fills everything from `out` to `stop`, which are slices along one dimension. `channel` is that
  // of all of them, or the first one's if they are channels.
  void fill(int dim, To* out, To* stop, int64_t channel) const {
    if (fill_.size() == 1 || dim > channel_axis_) {
      std::fill(out, stop, fill_[fill_.size() == 1 ? 0 : static_cast<size_t>(channel)].value);
      return;
    }
    const int64_t run = output_strides_[channel_axis_];
    size_t c = dim == channel_axis_ ? static_cast<size_t>(channel) : 0;
    for (; out < stop; out += run) {
      std::fill(out, out + run, fill_[c].value);
      c = c + 1 == fill_.size() ? 0 : c + 1;
    }
  }

  // Keeps std::vector from packing booleans.
  struct Fill {
    To value;
  };

  Shape shape_;
  Window window_;
  OutOfBounds policy_;
  int channel_axis_;
  Strides input_strides_, output_strides_;
  std::vector<Fill> fill_;
  int last_cut_;
};

}  // namespace

WindowCopy::WindowCopy(const OperatorConfig& config)
    : policy_(out_of_bounds_policy(config, true)),
      fill_values_(config.get_or<std::vector<float>>("fill_values", {})),
      type_(config.get_or<DataType>("dtype",
                                    config.get_or<DataType>("output_dtype", DataType::kNone))) {
  if (fill_values_.empty()) fill_values_ = {0.0f};
}

PlannedWindow WindowCopy::plan(const Tensor& input, Window window, const Layout& layout,
                               int channel_axis) const {
  const DataType type = output_type(input.type);
  apply_policy(window, input.shape, policy_);
  const bool is_whole = type == input.type && window.is_whole(input.shape);
  if (!is_whole) {
    check_size(window.extent, type);
    if (policy_ == OutOfBounds::kPad && fill_values_.size() != 1)
      check_fill(window.extent, channel_axis);
  }
  return {window, type, layout, channel_axis, is_whole};
}

void WindowCopy::run(SampleContext& sample, const Window& wanted, const Layout& layout,
                     int channel_axis) const {
  const Tensor& input = sample.input(0);
  const PlannedWindow planned = plan(input, wanted, layout, channel_axis);
  if (planned.is_whole) {
    sample.forward(0, input).layout = layout;
    return;
  }
  const DataType type = planned.type;
  const Window& window = planned.window;
  Tensor& output = sample.output(0, type, window.extent, layout);
  if (output.num_elements() == 0) return;
  visit_type(input.type, [&](auto from) {
    using From = decltype(from);
    const auto copy_as = [&](auto to) {
      using To = decltype(to);
      Copier<To, From>(input.shape, window, policy_, channel_axis, fill_values_)
          .run(input.as<From>(), output.as<To>());
    };
    if (type == input.type)
      copy_as(From{});
    else if (type == DataType::kUInt8)
      copy_as(uint8_t{});
    else if (type == DataType::kFloat16)
      copy_as(Half{});
    else
      copy_as(float{});
  });
}

void WindowCopy::check_fill(const Shape& extent, int channel_axis) const {
  if (channel_axis < 0)
    throw std::invalid_argument("fill_values must be one number where the layout has no C (got " +
                                std::to_string(fill_values_.size()) +
                                "). Give a layout with C where the data enters.");
  if (static_cast<int64_t>(fill_values_.size()) != extent[channel_axis])
    throw std::invalid_argument("fill_values must be one number or one for each of the " +
                                std::to_string(extent[channel_axis]) + " channels (got " +
                                std::to_string(fill_values_.size()) +
                                "). Pass as many as there are channels.");
}

DataType WindowCopy::output_type(DataType input) const {
  if (type_ == DataType::kNone || type_ == input || type_ == DataType::kUInt8 ||
      type_ == DataType::kFloat || type_ == DataType::kFloat16)
    return type_ == DataType::kNone ? input : type_;
  throw std::invalid_argument("dtype must be UINT8, FLOAT16, FLOAT or the input's type (got " +
                              std::string(name_of(type_)) + " for an input of type " +
                              name_of(input) + "). Use fn.cast.");
}

}  // namespace dali_core
