#include "dali_core/kernels/normalize/normalize_device.hpp"

#include <algorithm>
#include <cstring>

#include "dali_core/element_groups.hpp"
#include "dali_core/kernels/normalize/normalize_sample.hpp"

namespace dali_core {
namespace {

constexpr unsigned kThreads = 256;
// Pixels of a thread: enough to make up for reading the parameters.
constexpr int64_t kThreadPixels = 16;

void set_axes(const PlannedNormalization& planned, const Shape& image, NormalizeSample& sample) {
  const Strides input_strides = dense_strides(image);
  const Strides output_strides = dense_strides(planned.shape);
  sample.input_channels = sample.output_channels = 1;
  sample.num_pixels = sample.rows = 1;
  for (int i = 0; i < planned.shape.ndim; ++i) {
    const int axis = planned.input_axis[i];
    if (axis == planned.axes.channel) {
      sample.input_channels = image[axis];
      sample.output_channels = planned.shape[i];
      sample.input_channel_stride = input_strides[axis];
      sample.output_channel_stride = output_strides[i];
      continue;
    }
    const bool is_column = axis == planned.axes.width;
    const bool mirrored = (is_column && planned.mirror_columns) ||
                          (axis == planned.axes.height && planned.mirror_rows);
    const WindowAxis window{planned.window.extent[axis], planned.window.start[axis], image[axis],
                            input_strides[axis], mirrored};
    sample.num_pixels *= window.extent;
    if (is_column) {
      sample.columns = window;
      sample.column_stride = output_strides[i];
      sample.groups = quick_divisor(std::max<int64_t>(blocks_for(window.extent, kGroup), 1));
    } else {
      sample.rows *= window.extent;
      sample.outer[sample.num_outer] = window;
      sample.outer_extents[sample.num_outer] = quick_divisor(std::max<int64_t>(window.extent, 1));
      sample.outer_strides[sample.num_outer++] = output_strides[i];
    }
  }
}

}  // namespace

const FinishedChannel* UploadedChannels::upload(const std::vector<FinishedChannel>& channels) {
  const size_t bytes = channels.size() * sizeof(FinishedChannel);
  const bool is_same =
      channels.size() == last_.size() && std::memcmp(channels.data(), last_.data(), bytes) == 0;
  if (!is_same || on_device_ == nullptr) {
    const auto uploaded = batch_.upload<FinishedChannel>(channels.size());
    std::copy(channels.begin(), channels.end(), uploaded.host);
    on_device_ = uploaded.device;
    last_ = channels;
  }
  return on_device_;
}

void normalize_on_device(DeviceBatch& batch, const std::vector<PlannedNormalization>& planned) {
  for (int i = 0; i < batch.size(); ++i) {
    if (planned[i].is_forwarded)
      batch.forward(0, i, batch.input(0, i)).layout = planned[i].layout;
    else
      batch.declare(0, i, planned[i].type, planned[i].shape, planned[i].layout);
  }
  batch.allocate();
  const auto samples = batch.upload<NormalizeSample>(static_cast<size_t>(batch.size()));
  UploadedChannels channels(batch);
  int64_t blocks = 0;
  for (int i = 0; i < batch.size(); ++i) {
    NormalizeSample sample{};
    const Tensor& input = batch.input(0, i);
    const Tensor& output = batch.output(0, i);
    if (!planned[i].is_forwarded && output.num_elements() > 0) {
      sample.input = input.data;
      sample.output = output.data;
      sample.from = input.type;
      sample.to = output.type;
      sample.input_bytes = input.num_bytes();
      sample.channels = channels.upload(planned[i].channels);
      set_axes(planned[i], input.shape, sample);
      blocks = std::max(blocks, blocks_for(sample.num_pixels, kThreads, kThreadPixels));
    }
    samples.host[i] = sample;
  }
  batch.launch("normalize_images", blocks, kThreads, samples.device,
               static_cast<int64_t>(batch.size()));
}

}  // namespace dali_core
