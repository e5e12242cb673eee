#include "dali_core/kernels/window/window_copy.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>

#include "dali_core/geometry.hpp"
#include "dali_core/kernels/convert/convert_elements.hpp"
#include "dali_core/kernels/fill/fill_elements.hpp"

namespace dali_core {
namespace {

constexpr int64_t kElementsInBlock = 512;

// To bytes by window_convert(): the fraction is dropped.
template <typename From>
void truncate_to_bytes(const void* input, char* output, int64_t count) {
  const From* const in = static_cast<const From*>(input);
  uint8_t* const __restrict out = reinterpret_cast<uint8_t*>(output);
  for (int64_t i = 0; i < count; ++i) {
    From value = in[i] > From(0) ? in[i] : From(0);
    value = value < From(255) ? value : From(255);
    out[i] = static_cast<uint8_t>(static_cast<int32_t>(value));
  }
}

// To halves by window_convert(): they stay finite.
void clamp_to_halves(float* values, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    values[i] = values[i] > 65504.0f ? 65504.0f : values[i];
    values[i] = values[i] < -65504.0f ? -65504.0f : values[i];
  }
}

// Converts by window_convert().
void convert_window_run(const char* in, DataType from, char* out, DataType to, int64_t count) {
  if (to == DataType::kUInt8 && from == DataType::kFloat)
    return truncate_to_bytes<float>(in, out, count);
  if (to == DataType::kUInt8 && from == DataType::kFloat64)
    return truncate_to_bytes<double>(in, out, count);
  const bool from_halves = to == DataType::kUInt8 && from == DataType::kFloat16;
  if (from == to || (to != DataType::kFloat16 && !from_halves))
    return convert_elements(in, from, out, to, count);
  alignas(64) float block[kElementsInBlock];
  for (int64_t first = 0; first < count; first += kElementsInBlock) {
    const int64_t length = std::min(kElementsInBlock, count - first);
    convert_to_floats(element_at(in, from, first), from, block, length);
    if (from_halves) {
      truncate_to_bytes<float>(block, out + first, length);
    } else {
      clamp_to_halves(block, length);
      convert_from_floats(block, element_at(out, to, first), to, length);
    }
  }
}

// Copies runs that are `in_step` and `out_step` bytes apart.
template <size_t kBytes>
void copy_short_runs(const char* in, int64_t in_step, char* out, int64_t out_step, int64_t count) {
  for (int64_t i = 0; i < count; ++i) std::memcpy(out + i * out_step, in + i * in_step, kBytes);
}

void copy_runs(const char* in, int64_t in_step, char* out, int64_t out_step, int64_t count,
               int64_t bytes) {
  switch (bytes) {
    case 1:
      return copy_short_runs<1>(in, in_step, out, out_step, count);
    case 2:
      return copy_short_runs<2>(in, in_step, out, out_step, count);
    case 3:
      return copy_short_runs<3>(in, in_step, out, out_step, count);
    case 4:
      return copy_short_runs<4>(in, in_step, out, out_step, count);
    case 8:
      return copy_short_runs<8>(in, in_step, out, out_step, count);
    case 12:
      return copy_short_runs<12>(in, in_step, out, out_step, count);
    default:
      for (int64_t i = 0; i < count; ++i)
        std::memcpy(out + i * out_step, in + i * in_step, static_cast<size_t>(bytes));
  }
}

// Copies dimension by dimension, down to runs that are contiguous on both sides.
class Copier {
 public:
  Copier(const Tensor& input, const PlannedWindow& planned, OutOfBounds policy,
         const std::vector<float>& fill_values)
      : from_(input.type),
        to_(planned.type),
        from_bytes_(size_of(from_)),
        to_bytes_(size_of(to_)),
        shape_(input.shape),
        window_(planned.window),
        policy_(policy),
        channel_axis_(planned.channel_axis),
        input_strides_(dense_strides(input.shape)),
        output_strides_(dense_strides(planned.window.extent)) {
    for (float value : fill_values) fill_.push_back(fill_bits(to_, value));
    last_cut_ = 0;
    for (int i = 0; i < shape_.ndim; ++i)
      if (window_.start[i] != 0 || window_.extent[i] != shape_[i]) last_cut_ = i;
  }

  void run(const char* in, char* out) const {
    if (shape_.ndim == 0)
      copy_run(in, out, 1);
    else
      copy(0, in, out, 0);
  }

 private:
  // Bytes between neighbours along a dimension.
  int64_t input_step(int dim) const { return input_strides_[dim] * from_bytes_; }
  int64_t output_step(int dim) const { return output_strides_[dim] * to_bytes_; }

  void copy(int dim, const char* in, char* out, int64_t channel) const {
    const int64_t start = window_.start[dim];
    const int64_t extent = window_.extent[dim];
    const int64_t first = std::clamp<int64_t>(-start, 0, extent);
    const int64_t last = std::clamp<int64_t>(shape_[dim] - start, first, extent);
    if (dim == last_cut_ && first < last)
      copy_run(in + window_source(first, start) * input_step(dim), out + first * output_step(dim),
               (last - first) * output_strides_[dim]);
    else if (dim + 1 == last_cut_ && is_inside(last_cut_) && first < last)
      copy_inside(dim, first, last, in, out);
    else
      for (int64_t i = first; i < last; ++i) copy_slice(dim, i, in, out, channel);
    copy_outside(dim, 0, first, in, out, channel);
    copy_outside(dim, last, extent, in, out, channel);
  }

  // Copies slice `i` of the window along one dimension.
  void copy_slice(int dim, int64_t i, const char* in, char* out, int64_t channel) const {
    int64_t source = window_source(i, window_.start[dim]);
    if (repeats_input(policy_)) source = repeated_source(source, shape_[dim], policy_);
    in += source * input_step(dim);
    out += i * output_step(dim);
    if (dim == last_cut_)
      copy_run(in, out, output_strides_[dim]);
    else
      copy(dim + 1, in, out, dim == channel_axis_ ? i : channel);
  }

  // Whether nothing of the window lies beside the input along a dimension.
  bool is_inside(int dim) const {
    return window_.start[dim] >= 0 && window_.start[dim] + window_.extent[dim] <= shape_[dim];
  }

  // Copies the slices [first, last) of the window, a run each. What they become is contiguous.
  void copy_inside(int dim, int64_t first, int64_t last, const char* in, char* out) const {
    const int64_t run = output_strides_[dim];
    in += window_source(first, window_.start[dim]) * input_step(dim);
    in += window_source(0, window_.start[dim + 1]) * input_step(dim + 1);
    out += first * output_step(dim);
    if (from_ == to_)
      return copy_runs(in, input_step(dim), out, output_step(dim), last - first, run * to_bytes_);
    if (run * 2 > kElementsInBlock) {
      for (; first < last; ++first, in += input_step(dim), out += output_step(dim))
        copy_run(in, out, run);
      return;
    }
    // Runs may be short: several at a time are converted.
    alignas(64) char block[kElementsInBlock * sizeof(int64_t)];
    for (const int64_t most = kElementsInBlock / std::max<int64_t>(run, 1); first < last;) {
      const int64_t count = std::min(most, last - first);
      copy_runs(in, input_step(dim), block, run * from_bytes_, count, run * from_bytes_);
      copy_run(block, out, count * run);
      first += count;
      in += count * input_step(dim);
      out += count * output_step(dim);
    }
  }

  // Makes the slices [begin, end) of the window, which lie beside the input.
  void copy_outside(int dim, int64_t begin, int64_t end, const char* in, char* out,
                    int64_t channel) const {
    if (begin == end) return;
    if (repeats_input(policy_)) {
      for (int64_t i = begin; i < end; ++i) copy_slice(dim, i, in, out, channel);
      return;
    }
    fill(dim, out + begin * output_step(dim), (end - begin) * output_strides_[dim],
         dim == channel_axis_ ? begin : channel);
  }

  void copy_run(const char* in, char* out, int64_t count) const {
    if (from_ == to_)
      std::memcpy(out, in, static_cast<size_t>(count * to_bytes_));
    else
      convert_window_run(in, from_, out, to_, count);
  }

  // Fills `count` elements, which are slices along one dimension. `channel` is that of all of them,
  // or the first one's if they are channels.
  void fill(int dim, char* out, int64_t count, int64_t channel) const {
    if (fill_.size() == 1 || dim > channel_axis_) {
      const size_t c = fill_.size() == 1 ? 0 : static_cast<size_t>(channel);
      fill_elements(out, count, to_bytes_, fill_[c]);
      return;
    }
    // All channels once, then what has been written again.
    const int64_t run = output_strides_[channel_axis_];
    const int64_t num_channels = static_cast<int64_t>(fill_.size());
    const int64_t channels = std::min(count / run, num_channels);
    for (int64_t i = 0; i < channels; ++i) {
      const size_t c = static_cast<size_t>((dim == channel_axis_ ? channel + i : i) % num_channels);
      fill_elements(out + i * run * to_bytes_, run, to_bytes_, fill_[c]);
    }
    for (int64_t done = channels * run; done < count; done *= 2)
      std::memcpy(out + done * to_bytes_, out,
                  static_cast<size_t>(std::min(done, count - done) * to_bytes_));
  }

  DataType from_, to_;
  int64_t from_bytes_, to_bytes_;
  Shape shape_;
  Window window_;
  OutOfBounds policy_;
  int channel_axis_;
  Strides input_strides_, output_strides_;
  std::vector<uint64_t> fill_;
  int last_cut_;
};

}  // namespace

WindowCopy::WindowCopy(const OperatorConfig& config)
    : policy_(out_of_bounds_policy(config, true)),
      fill_values_(config.get<std::vector<float>>("fill_values")),
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
  Tensor& output = sample.output(0, planned.type, planned.window.extent, layout);
  if (output.num_elements() == 0) return;
  Copier(input, planned, policy_, fill_values_).run(input.as<char>(), output.as<char>());
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
