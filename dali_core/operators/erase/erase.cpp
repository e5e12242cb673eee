#include "dali_core/operators/erase/erase.hpp"

#include <algorithm>
#include <cstring>

#include "dali_core/fill_elements.hpp"
#include "dali_core/geometry.hpp"
#include "dali_core/operators/erase/erase_arguments.hpp"

namespace dali_core {
namespace {

// Fills regions dimension by dimension, down to the innermost one that is not erased whole.
class RegionFill {
 public:
  RegionFill(const Tensor& output, const std::vector<float>& values)
      : shape_(output.shape),
        strides_(dense_strides(output.shape)),
        bytes_(size_of(output.type)),
        channel_axis_(output.layout.find('C')) {
    for (float value : values) values_.push_back(fill_bits(output.type, value));
  }

  void fill(const ErasedRegion& region, char* out) const {
    int innermost = 0;
    for (int i = 0; i < shape_.ndim; ++i)
      if (region.ranges[i].stop - region.ranges[i].start < shape_[i]) innermost = i;
    if (shape_.ndim == 0)
      fill_elements(out, 1, bytes_, values_[0]);
    else
      fill_dim(0, innermost, region, out, 0);
  }

 private:
  void fill_dim(int dim, int innermost, const ErasedRegion& region, char* out,
                int64_t channel) const {
    const ErasedRange range = region.ranges[dim];
    const int64_t stride = strides_[dim];
    if (dim < innermost) {
      for (int64_t i = range.start; i < range.stop; ++i)
        fill_dim(dim + 1, innermost, region, out + i * stride * bytes_,
                 dim == channel_axis_ ? i : channel);
      return;
    }
    const int64_t count = (range.stop - range.start) * stride;
    out += range.start * stride * bytes_;
    if (values_.size() == 1 || dim > channel_axis_)
      fill_elements(out, count, bytes_, values_[values_.size() == 1 ? 0 : channel]);
    else if (dim == channel_axis_)
      fill_channels(out, range, stride);
    else
      repeat_channels(out, count);
  }

  void fill_channels(char* out, ErasedRange channels, int64_t stride) const {
    for (int64_t c = channels.start; c < channels.stop; ++c, out += stride * bytes_)
      fill_elements(out, stride, bytes_, values_[c]);
  }

  // Writes all channels once, then copies what there is behind itself.
  void repeat_channels(char* first, int64_t count) const {
    const int64_t num_channels = shape_[channel_axis_];
    const int64_t stride = strides_[channel_axis_];
    fill_channels(first, {0, num_channels}, stride);
    for (int64_t done = num_channels * stride; done < count; done *= 2)
      std::memcpy(first + done * bytes_, first,
                  static_cast<size_t>(std::min(done, count - done) * bytes_));
  }

  Shape shape_;
  Strides strides_;
  int64_t bytes_;
  int channel_axis_;
  std::vector<uint64_t> values_;
};

}  // namespace

class Erase : public Operator {
 public:
  explicit Erase(const OperatorConfig& config) : arguments_(config) {}

  void run(SampleContext& sample) const override {
    const Tensor& input = sample.input(0);
    const std::vector<ErasedRegion> regions = arguments_.find_regions(sample);
    if (regions.empty()) {
      sample.forward(0, input);
      return;
    }
    std::vector<float> storage;
    const std::vector<float>& values = arguments_.values(sample, storage);
    Tensor& output = sample.output(0, input.type, input.shape, input.layout);
    std::memcpy(output.data, input.data, static_cast<size_t>(input.num_bytes()));
    const RegionFill filler(output, values);
    for (const ErasedRegion& region : regions) filler.fill(region, output.as<char>());
  }

 private:
  EraseArguments arguments_;
};

DALI_CORE_REGISTER_OPERATOR("erase", Erase)

}  // namespace dali_core
