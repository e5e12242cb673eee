#include "dali_core/kernels/fill/erase.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "dali_core/geometry.hpp"
#include "dali_core/kernels/fill/fill_elements.hpp"
#include "dali_core/kernels/tasks/task_operator.hpp"

namespace dali_core {
namespace {

// Fills regions dimension by dimension, down to the innermost one that is not erased whole.
class RegionFill {
 public:
  explicit RegionFill(const EraseTask& task) : task_(task) {
    for (int i = 0; i < task.num_dims; ++i) shape_.push_back(task.extents[i].divisor);
    strides_ = dense_strides(shape_);
  }

  // One range for each dimension.
  void fill(const ErasedRange* ranges) const {
    int innermost = 0;
    for (int i = 0; i < shape_.ndim; ++i)
      if (ranges[i].stop - ranges[i].start < shape_[i]) innermost = i;
    fill_dim(0, innermost, ranges, static_cast<char*>(task_.out), 0);
  }

 private:
  void fill_dim(int dim, int innermost, const ErasedRange* ranges, char* out,
                int64_t channel) const {
    const ErasedRange range = ranges[dim];
    const int64_t stride = strides_[dim];
    if (dim < innermost) {
      for (int64_t i = range.start; i < range.stop; ++i)
        fill_dim(dim + 1, innermost, ranges, out + i * stride * task_.bytes,
                 dim == task_.channel_axis ? i : channel);
      return;
    }
    const int64_t count = (range.stop - range.start) * stride;
    out += range.start * stride * task_.bytes;
    if (dim > task_.channel_axis)
      fill_elements(out, count, task_.bytes, task_.values[channel]);
    else if (dim == task_.channel_axis)
      fill_channels(out, range, stride);
    else
      repeat_channels(out, count);
  }

  void fill_channels(char* out, ErasedRange channels, int64_t stride) const {
    for (int64_t c = channels.start; c < channels.stop; ++c, out += stride * task_.bytes)
      fill_elements(out, stride, task_.bytes, task_.values[c]);
  }

  // Writes all channels once, then copies what there is behind itself.
  void repeat_channels(char* first, int64_t count) const {
    const int64_t num_channels = shape_[task_.channel_axis];
    const int64_t stride = strides_[task_.channel_axis];
    fill_channels(first, {0, num_channels}, stride);
    for (int64_t done = num_channels * stride; done < count; done *= 2)
      std::memcpy(first + done * task_.bytes, first,
                  static_cast<size_t>(std::min(done, count - done) * task_.bytes));
  }

  const EraseTask& task_;
  Shape shape_;
  Strides strides_;
};

}  // namespace

class Erase : public KernelOperator<Erase, EraseTask> {
 public:
  static constexpr auto kKernel = "erase_regions";

  explicit Erase(const OperatorConfig& config)
      : anchor_(config, "anchor"),
        shape_(config, "shape"),
        fill_(config, "fill_value"),
        axes_(config.get_or<std::vector<int64_t>>("axes", {})),
        names_(config.get_or<std::string>("axis_names", "")),
        is_centered_(config.get<bool>("centered_anchor")) {
    const int both = config.get_or<int>("normalized", 0);
    anchor_is_relative_ = config.get_or<int>("normalized_anchor", both) != 0;
    shape_is_relative_ = config.get_or<int>("normalized_shape", both) != 0;
  }

  struct Result : Inferred {
    std::vector<ErasedRange> ranges;
    std::vector<uint64_t> values;  // elements: one, or one for each channel
  };

  Result infer(const SampleContext& sample) const {
    const Tensor& input = sample.input(0);
    Result result{{input.type, input.shape, input.layout}, find_ranges(sample), {}};
    if (result.ranges.empty()) {
      result.forwarded = 0;
      return result;
    }
    std::vector<float> storage;
    const std::vector<float>& values = fill_.at(sample, storage);
    check_values(values, input, input.layout.find('C'));
    for (const float value : values) result.values.push_back(fill_bits(input.type, value));
    return result;
  }

  EraseTask task(const Result& result, TaskData& data) const {
    const Tensor input = data.input();
    const int ndim = input.shape.ndim;
    EraseTask task{};
    task.in = input.data;
    task.out = data.output().data;
    task.ranges = data.array(result.ranges);
    task.values = data.array(result.values);
    task.count = input.num_elements();
    task.num_regions = static_cast<int>(result.ranges.size()) / ndim;
    task.num_dims = ndim;
    task.channel_axis = result.values.size() == 1 ? -1 : input.layout.find('C');
    task.bytes = static_cast<int>(size_of(input.type));
    for (int dim = 0; dim < ndim; ++dim) task.extents[dim] = quick_divisor(input.shape[dim]);
    task.position_bytes = task.bytes;
    task.line_dim = ndim - 1;
    while (task.line_dim > 0 && is_covered(result.ranges, task.line_dim, input.shape))
      task.position_bytes *= input.shape[task.line_dim--];
    task.line_bytes = quick_divisor(input.shape[task.line_dim] * task.position_bytes);
    return task;
  }

  // Threads store words of 16 bytes, four of them to make up for reading the parameters.
  static int64_t threads_for(const EraseTask& task) {
    return blocks_for(task.count * task.bytes + 15, 16 * 4);
  }

  static void compute(const EraseTask& task) {
    std::memcpy(task.out, task.in, static_cast<size_t>(task.count * task.bytes));
    const RegionFill filler(task);
    for (int i = 0; i < task.num_regions; ++i) filler.fill(task.ranges + i * task.num_dims);
  }

 private:
  // Whether all regions have all positions along a dimension.
  static bool is_covered(const std::vector<ErasedRange>& ranges, int dim, const Shape& extents) {
    for (size_t i = static_cast<size_t>(dim); i < ranges.size();
         i += static_cast<size_t>(extents.ndim))
      if (ranges[i].start > 0 || ranges[i].stop < extents[dim]) return false;
    return true;
  }

  // One range for each dimension of each region.
  std::vector<ErasedRange> find_ranges(const SampleContext& sample) const {
    const Shape& extents = sample.input(0).shape;
    const std::vector<int> axes = chosen_axes(sample.input(0));
    const std::vector<float> none;
    std::vector<float> anchor_storage, shape_storage;
    const auto& anchors = anchor_.given() ? anchor_.at(sample, anchor_storage) : none;
    const auto& shapes = shape_.given() ? shape_.at(sample, shape_storage) : none;
    if (!anchors.empty() && anchors.size() != shapes.size())
      throw std::invalid_argument("anchor and shape must have equally many numbers (got " +
                                  std::to_string(anchors.size()) + " and " +
                                  std::to_string(shapes.size()) + "). Give both for every region.");
    if (shapes.empty()) return {};
    if (axes.empty() || shapes.size() % axes.size() != 0)
      throw std::invalid_argument(
          "shape must have " + std::to_string(axes.size()) +
          " numbers for each region, one for each dimension that it is given for (got " +
          std::to_string(shapes.size()) + " for an input of shape " + to_string(extents) +
          "). Name the dimensions with axis_names or axes.");
    std::vector<ErasedRange> all;
    for (size_t first = 0; first < shapes.size(); first += axes.size()) {
      ErasedRange ranges[kMaxDims];
      for (int i = 0; i < extents.ndim; ++i) ranges[i] = {0, extents[i]};
      for (size_t i = 0; i < axes.size(); ++i) {
        const int64_t extent = extents[axes[i]];
        const auto scale = static_cast<float>(extent);
        const float anchor = anchors.empty() ? 0.0f : anchors[first + i];
        const float shape = shapes[first + i];
        ranges[axes[i]] =
            erased_range(anchor_is_relative_ ? anchor * scale : anchor,
                         shape_is_relative_ ? shape * scale : shape, is_centered_, extent);
      }
      const bool is_empty = std::any_of(ranges, ranges + extents.ndim, [](ErasedRange range) {
        return range.start >= range.stop;
      });
      if (!is_empty) all.insert(all.end(), ranges, ranges + extents.ndim);
    }
    return all;
  }

  std::vector<int> chosen_axes(const Tensor& input) const {
    const int ndim = input.shape.ndim;
    std::vector<int> axes;
    for (char name : names_) {
      axes.push_back(input.layout.find(name));
      if (axes.back() < 0 || axes.back() >= ndim)
        throw std::invalid_argument("axis_names must be letters of the input's layout (got '" +
                                    std::string(1, name) + "' for layout \"" +
                                    input.layout.c_str() +
                                    "\"). Use axes where the data has no layout.");
    }
    if (!names_.empty()) return axes;
    for (int64_t axis : axes_) {
      if (axis < -ndim || axis >= ndim)
        throw std::invalid_argument("axes must be from " + std::to_string(-ndim) + " to " +
                                    std::to_string(ndim - 1) + " (got " + std::to_string(axis) +
                                    " for shape " + to_string(input.shape) +
                                    "). Choose dimensions of the input.");
      axes.push_back(static_cast<int>(axis < 0 ? axis + ndim : axis));
    }
    if (axes_.empty())
      for (int axis = 0; axis < ndim; ++axis)
        if (axis != input.layout.find('C')) axes.push_back(axis);
    return axes;
  }

  static void check_values(const std::vector<float>& values, const Tensor& input,
                           int channel_axis) {
    if (values.size() == 1) return;
    if (channel_axis < 0)
      throw std::invalid_argument(
          "fill_value must be one number where the input's layout has no channels (got " +
          std::to_string(values.size()) + " for layout \"" + input.layout.c_str() +
          "\"). Set a layout with C.");
    if (static_cast<int64_t>(values.size()) != input.shape[channel_axis])
      throw std::invalid_argument("fill_value must be one number or one for each of the " +
                                  std::to_string(input.shape[channel_axis]) + " channels (got " +
                                  std::to_string(values.size()) +
                                  "). Pass as many as there are channels.");
  }

  ListArgument<float> anchor_, shape_, fill_;
  std::vector<int64_t> axes_;
  std::string names_;
  bool is_centered_;
  bool anchor_is_relative_ = false;
  bool shape_is_relative_ = false;
};

DALI_CORE_REGISTER_OPERATOR("erase", Erase)

}  // namespace dali_core
