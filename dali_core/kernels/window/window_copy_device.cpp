#include "dali_core/kernels/window/window_copy_device.hpp"

#include <algorithm>
#include <cstring>

#include "dali_core/device_inputs.hpp"
#include "dali_core/geometry.hpp"
#include "dali_core/kernels/fill/fill_elements.hpp"
#include "dali_core/kernels/window/window_copy_sample.hpp"

namespace dali_core {
namespace {

constexpr unsigned kThreads = 256;
// Four stores of 16 bytes: enough to make up for reading the parameters.
constexpr int64_t kThreadBytes = 64;
constexpr int64_t kLeastLineBytes = 16;  // what a thread makes at a time

bool is_whole(const WindowAxis& axis) {
  return axis.start == 0 && axis.extent == axis.source_extent && !axis.mirrored;
}

// Makes one axis of two that follow each other, of which the inner one is whole, if that is the
// same.
bool merge(const WindowAxis& outer, WindowAxis& inner, OutOfBounds policy) {
  const bool is_inside = outer.start >= 0 && outer.start + outer.extent <= outer.source_extent;
  if (!is_whole(inner) || outer.mirrored || (repeats_input(policy) && !is_inside)) return false;
  const int64_t extent = inner.extent;
  inner.extent = outer.extent * extent;
  inner.start = outer.start * extent;
  inner.source_extent = outer.source_extent * extent;
  return true;
}

// The fewest axes that describe the window.
void set_axes(const Shape& shape, const PlannedWindow& planned, OutOfBounds policy,
              WindowCopySample& sample) {
  const Window& window = planned.window;
  const Strides strides = dense_strides(shape);
  std::vector<WindowAxis> axes;  // innermost first
  for (int i = shape.ndim - 1; i >= 0; --i) {
    const WindowAxis axis{window.extent[i], window.start[i], shape[i], strides[i],
                          planned.mirrored[i] && window.extent[i] > 1};
    if (axes.empty() || !merge(axis, axes.back(), policy)) axes.push_back(axis);
  }
  if (axes.empty()) axes.push_back({1, 0, 1, 1, false});
  sample.inner = 1;
  // Elements of a pixel stay together, unless there are so many that they are a line.
  if (axes.size() > 1 && is_whole(axes.front()) &&
      axes.front().extent * size_of(sample.from) < kLeastLineBytes) {
    sample.inner = axes.front().extent;
    axes.erase(axes.begin());
  }
  sample.num_axes = static_cast<int32_t>(axes.size());
  std::copy(axes.rbegin(), axes.rend(), sample.axes);
  for (int i = 0; i < sample.num_axes; ++i)
    sample.extents[i] = quick_divisor(std::max<int64_t>(sample.axes[i].extent, 1));
  const int64_t pixel_bytes = sample.inner * size_of(sample.from);
  sample.pixel_bytes = quick_divisor(pixel_bytes);
  sample.line_bytes = quick_divisor(sample.axes[sample.num_axes - 1].extent * pixel_bytes);
}

}  // namespace

DeviceWindowCopies::DeviceWindowCopies(DeviceBatch& batch, const WindowCopy* copy) : batch_(batch) {
  if (copy == nullptr) return;
  policy_ = copy->policy();
  fill_values_ = copy->fill_values();
}

std::vector<uint64_t> DeviceWindowCopies::fill_bits(DataType type) const {
  std::vector<uint64_t> bits;
  for (const float number : fill_values_) bits.push_back(dali_core::fill_bits(type, number));
  return bits;
}

void DeviceWindowCopies::run(const std::vector<PlannedWindow>& windows) {
  const auto is_copied = [&](int i) { return !windows[i].is_whole; };
  for (int i = 0; i < batch_.size(); ++i) {
    const PlannedWindow& planned = windows[i];
    if (is_copied(i))
      batch_.declare(0, i, planned.type, planned.window.extent, planned.layout);
    else
      batch_.forward(0, i, batch_.input(0, i)).layout = planned.layout;
  }
  batch_.allocate();
  const auto samples = batch_.upload<WindowCopySample>(static_cast<size_t>(batch_.size()));
  UploadedArray<uint64_t> fill{};
  DataType fill_type = DataType::kNone;
  int64_t copy_blocks = 0;
  int64_t convert_blocks = 0;
  for (int i = 0; i < batch_.size(); ++i) {
    WindowCopySample sample{};
    const Tensor& input = batch_.input(0, i);
    const Tensor& output = batch_.output(0, i);
    sample.from = input.type;
    sample.to = output.type;
    sample.num_elements = is_copied(i) ? output.num_elements() : 0;
    if (sample.num_elements > 0) {
      if (!sample_values_.empty() && fill_values_.front() != sample_values_[i]) {
        fill_values_.front() = sample_values_[i];
        fill_type = DataType::kNone;
      }
      if (fill_type != output.type) {
        fill_type = output.type;
        const std::vector<uint64_t> bits = fill_bits(fill_type);
        fill = batch_.upload<uint64_t>(bits.size());
        std::copy(bits.begin(), bits.end(), fill.host);
      }
      sample.input = data_on_device(batch_, input);
      sample.output = output.data;
      sample.fill = fill.device;
      sample.input_bytes = input.num_bytes();
      sample.num_fill = static_cast<int64_t>(fill_values_.size());
      sample.policy = policy_;
      const int channel_axis = windows[i].channel_axis;
      sample.channel_stride =
          channel_axis < 0 ? sample.num_elements : dense_strides(output.shape)[channel_axis];
      set_axes(input.shape, windows[i], policy_, sample);
      if (input.type == output.type)
        copy_blocks =
            std::max(copy_blocks, blocks_for(output.num_bytes() + 15, kThreads, kThreadBytes));
      else
        convert_blocks = std::max(convert_blocks, blocks_for(sample.num_elements, kThreads));
    }
    samples.host[i] = sample;
  }
  const int64_t count = batch_.size();
  batch_.launch("copy_windows", copy_blocks, kThreads, samples.device, count);
  batch_.launch("convert_windows", convert_blocks, kThreads, samples.device, count);
}

}  // namespace dali_core
