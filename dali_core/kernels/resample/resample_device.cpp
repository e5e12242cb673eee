#include "dali_core/kernels/resample/resample_device.hpp"

#include <algorithm>

#include "dali_core/geometry.hpp"
#include "dali_core/kernels/normalize/normalize_device.hpp"
#include "dali_core/kernels/resample/device_taps.hpp"
#include "dali_core/kernels/resample/resample_sample.hpp"
#include "dali_core/kernels/resample/resize_image.hpp"

namespace dali_core {
namespace {

constexpr unsigned kThreads = 256;
// What a thread of the vertical pass blends, in float and in fixed point.
constexpr int64_t kFloatsTogether = 4;
constexpr int64_t kFixedTogether = 16;
// What a thread of the horizontal pass makes of usual images.
constexpr int64_t kPixelsTogether = 4;
// Samples whose rows between the passes fit into this much go through both passes before the next
// ones, which use the same memory: it then stays in the second-level cache.
constexpr int64_t kGroupBytes = int64_t{24} << 20;

// The work for a batch, sample by sample.
class Resampling {
 public:
  explicit Resampling(DeviceBatch& batch)
      : batch_(batch),
        samples_(batch.upload<ResampleSample>(static_cast<size_t>(batch.size()))),
        channels_(batch) {}

  void add(int i, const PlannedResampling& planned) {
    ResampleSample sample{};
    if (!planned.is_forwarded && batch_.output(0, i).num_elements() > 0) set(i, planned, sample);
    samples_.host[i] = sample;
  }

  // Launches what all samples need.
  void run() {
    const std::vector<std::pair<int, int>> groups = group();
    const size_t bytes = taps_.num_bytes() + static_cast<size_t>(blended_bytes_);
    char* const memory = static_cast<char*>(batch_.scratch(bytes));
    for (int i = 0; i < batch_.size(); ++i) {
      ResampleSample& sample = samples_.host[i];
      sample.rows = placed_at(memory, sample.rows);
      sample.columns = placed_at(memory, sample.columns);
      sample.slices = placed_at(memory, sample.slices);
    }
    for (DepthSample& depth : depths_) depth.taps = placed_at(memory, depth.taps);
    taps_.launch(batch_, memory);
    if (!depths_.empty()) launch_depth();
    if (copy_items_ > 0) launch("copy_image_pixels", 0, batch_.size(), copy_items_);
    for (const auto& [begin, end] : groups) run_group(begin, end, memory + taps_.num_bytes());
  }

 private:
  static int64_t blended_bytes(const ResampleSample& sample) {
    if (sample.arithmetic == ResampleArithmetic::kCopy) return 0;
    const int64_t element = sample.arithmetic == ResampleArithmetic::kFixed ? 2 : 4;
    const int64_t elements =
        checked_product(sample.num_images * sample.height, sample.blended_stride);
    check_size({elements}, DataType::kFloat);
    return (elements * element + 255) / 256 * 256;
  }

  // Samples that go through both passes before the next ones, and how much memory they need.
  std::vector<std::pair<int, int>> group() {
    std::vector<std::pair<int, int>> groups;
    int first = 0;
    int64_t group_bytes = 0;
    for (int i = 0; i < batch_.size(); ++i) {
      const int64_t bytes = blended_bytes(samples_.host[i]);
      if (group_bytes > 0 && group_bytes + bytes > kGroupBytes) {
        groups.emplace_back(first, i);
        first = i;
        group_bytes = 0;
      }
      group_bytes += bytes;
      blended_bytes_ = std::max(blended_bytes_, group_bytes);
    }
    if (blended_bytes_ > 0) groups.emplace_back(first, batch_.size());
    return groups;
  }

  void set(int i, const PlannedResampling& planned, ResampleSample& sample) {
    const Tensor& input = batch_.input(0, i);
    Tensor& output = batch_.output(0, i);
    sample.from = input.type;
    sample.resampled = planned.type;
    sample.to = output.type;
    sample.input = static_cast<const char*>(input.data) + planned.offset * size_of(input.type);
    sample.output = output.data;
    sample.depth = 1;
    sample.num_images = planned.num_volumes;
    if (planned.depth) set_depth(input, planned, sample);
    const int64_t element = size_of(sample.from);
    sample.row_bytes = planned.row_elements * element;
    sample.slice_bytes = planned.slice_elements * element;
    if (!planned.depth) sample.volume_bytes = sample.slice_bytes;

    const ResampleAxis rows = running(planned.rows);
    const AxisTaps row_taps(rows);
    const AxisTaps column_taps(planned.columns);
    sample.arithmetic = choose_arithmetic(row_taps, column_taps, sample.from, planned.type);
    const bool is_fixed = sample.arithmetic == ResampleArithmetic::kFixed;
    sample.first_column = column_taps.source_begin();
    sample.num_columns = column_taps.source_end() - column_taps.source_begin();
    sample.rows = taps_.add(AxisKind::kRows, rows, row_taps, is_fixed, 0);
    sample.columns =
        taps_.add(AxisKind::kColumns, planned.columns, column_taps, is_fixed, sample.first_column);
    sample.height = row_taps.num_outputs();
    sample.width = column_taps.num_outputs();
    sample.channels = sample.output_channels = planned.channels;
    const int64_t together = is_fixed ? kFixedTogether : kFloatsTogether;
    const int64_t groups = blocks_for(sample.num_columns * planned.channels, together);
    sample.blended_stride = groups * together;
    sample.by_blended = quick_divisor(std::max<int64_t>(groups, 1));
    sample.channel_stride = 1;
    sample.column_stride = planned.channels;
    sample.row_stride = sample.width * planned.channels;
    sample.image_stride = sample.height * sample.row_stride;
    if (planned.finish) set_finish(*planned.finish, sample);
    sample.memory = input.data;
    sample.memory_bytes = input.num_bytes();
    sample.by_height = quick_divisor(std::max<int64_t>(sample.height, 1));
    sample.by_width = quick_divisor(std::max<int64_t>(sample.width, 1));
    sample.by_depth = quick_divisor(std::max<int64_t>(sample.depth, 1));
    sample.by_pixel_groups =
        quick_divisor(std::max<int64_t>(blocks_for(sample.width, kPixelsTogether), 1));
    if (sample.arithmetic == ResampleArithmetic::kCopy)
      copy_items_ = std::max(copy_items_, sample.num_images * sample.height * sample.width);
  }

  void set_finish(const FinishedImage& finish, ResampleSample& sample) {
    const Strides strides = dense_strides(finish.shape);
    sample.finish = channels_.upload(finish.channels);
    sample.output_channels = static_cast<int64_t>(finish.channels.size());
    sample.channel_stride = strides[finish.layout.find('C')];
    sample.column_stride = strides[finish.layout.find('W')];
    sample.row_stride = strides[finish.layout.find('H')];
  }

  void set_depth(const Tensor& input, const PlannedResampling& planned, ResampleSample& sample) {
    const ResampleAxis axis = running(*planned.depth);
    const AxisTaps taps(axis);
    const DeviceTaps filled = taps_.add(AxisKind::kDepth, axis, taps, /*is_fixed=*/false, 0);
    sample.depth = taps.num_outputs();
    sample.num_images = planned.num_volumes * sample.depth;
    if (taps.is_copy()) {
      sample.slices = filled.starts;
      sample.volume_bytes = axis.input_size * planned.slice_elements * size_of(input.type);
      return;
    }
    DepthSample depth{};
    depth.input = input.data;
    depth.from = input.type;
    depth.taps = filled;
    depth.num_volumes = planned.num_volumes;
    depth.input_depth = axis.input_size;
    depth.depth = sample.depth;
    depth.slice = planned.slice_elements;
    const int64_t elements = checked_product(sample.num_images, planned.slice_elements);
    check_size({elements}, DataType::kFloat);
    depth.output = static_cast<float*>(batch_.scratch(static_cast<size_t>(elements) * 4));
    depth_items_ = std::max(depth_items_, elements);
    depths_.push_back(depth);
    sample.input = depth.output;
    sample.from = DataType::kFloat;
    sample.volume_bytes = sample.depth * planned.slice_elements * 4;
  }

  void launch_depth() {
    depths_.resize(static_cast<size_t>(batch_.size()));
    const auto depths = batch_.upload<DepthSample>(depths_.size());
    std::copy(depths_.begin(), depths_.end(), depths.host);
    batch_.launch("blend_slices", blocks_for(depth_items_, kThreads), kThreads, depths.device,
                  static_cast<int64_t>(batch_.size()));
  }

  void run_group(int begin, int end, char* blended) {
    int64_t blend_items = 0;
    int64_t gather_items = 0;
    for (int i = begin; i < end; ++i) {
      ResampleSample& sample = samples_.host[i];
      const int64_t bytes = blended_bytes(sample);
      if (bytes == 0) continue;
      sample.blended = blended;
      blended += bytes;
      const int64_t rows = sample.num_images * sample.height;
      blend_items = std::max(blend_items, rows * sample.by_blended.divisor);
      gather_items = std::max(gather_items, rows * sample.width);
    }
    launch("blend_image_rows", begin, end, blend_items);
    launch("gather_image_columns", begin, end, gather_items);
  }

  void launch(const char* kernel, int begin, int end, int64_t items) {
    KernelLaunch call =
        batch_.launch_of(kernel, samples_.device + begin, static_cast<int64_t>(end - begin));
    call.set_grid(blocks_for(items, kThreads), end - begin, kThreads);
    batch_.launch(call);
  }

  DeviceBatch& batch_;
  UploadedArray<ResampleSample> samples_;
  TapsOfBatch taps_;
  UploadedChannels channels_;
  std::vector<DepthSample> depths_;
  int64_t depth_items_ = 0;
  int64_t copy_items_ = 0;
  int64_t blended_bytes_ = 0;
};

}  // namespace

PlannedResampling::PlannedResampling(const Tensor& input, const ResizeView& view,
                                     const ResampleAxis* axes, DataType type)
    : is_forwarded(resizing_changes_nothing(input, view, axes, type)),
      type(type),
      layout(view.layout),
      rows(axes[view.num_axes - 2]),
      columns(axes[view.num_axes - 1]),
      channels(view.channels),
      num_volumes(view.outer),
      row_elements(view.extent[view.num_axes - 1] * view.channels),
      slice_elements(view.extent[view.num_axes - 2] * row_elements) {
  if (!is_forwarded) shape = resized_shape(input, view, axes);
  if (view.num_axes == 3) depth = axes[0];
}

void resample_on_device(DeviceBatch& batch, const std::vector<PlannedResampling>& planned) {
  for (int i = 0; i < batch.size(); ++i) {
    const PlannedResampling& sample = planned[i];
    if (sample.is_forwarded)
      batch.forward(0, i, batch.input(0, i)).layout = sample.layout;
    else if (sample.finish)
      batch.declare(0, i, sample.finish->type, sample.finish->shape, sample.finish->layout);
    else
      batch.declare(0, i, sample.type, sample.shape, sample.layout);
  }
  batch.allocate();
  Resampling resampling(batch);
  for (int i = 0; i < batch.size(); ++i) resampling.add(i, planned[i]);
  resampling.run();
}

}  // namespace dali_core
