#include "dali_core/operators/erase/erase.hpp"

#include <algorithm>
#include <cstring>

#include "dali_core/geometry.hpp"
#include "dali_core/operators/erase/erase_arguments.hpp"
#include "dali_core/window.hpp"

namespace dali_core {
namespace {

// Fills regions dimension by dimension, down to the innermost one that is not erased whole.
template <typename T>
class RegionFill {
 public:
  RegionFill(const Shape& shape, int channel_axis, const std::vector<float>& values)
      : shape_(shape), strides_(dense_strides(shape)), channel_axis_(channel_axis) {
    for (float value : values) values_.push_back({fill_value<T>(value)});
  }

  void fill(const ErasedRegion& region, T* out) const {
    int innermost = 0;
    for (int i = 0; i < shape_.ndim; ++i)
      if (region.ranges[i].stop - region.ranges[i].start < shape_[i]) innermost = i;
    if (shape_.ndim == 0)
      *out = values_[0].value;
    else
      fill_dim(0, innermost, region, out, 0);
  }

 private:
  void fill_dim(int dim, int innermost, const ErasedRegion& region, T* out, int64_t channel) const {
    const ErasedRange range = region.ranges[dim];
    const int64_t stride = strides_[dim];
    if (dim < innermost) {
      for (int64_t i = range.start; i < range.stop; ++i)
        fill_dim(dim + 1, innermost, region, out + i * stride, dim == channel_axis_ ? i : channel);
      return;
    }
    T* const first = out + range.start * stride;
    T* const last = out + range.stop * stride;
    if (values_.size() == 1 || dim > channel_axis_)
      std::fill(first, last, values_[values_.size() == 1 ? 0 : channel].value);
    else if (dim == channel_axis_)
      fill_channels(first, range, stride);
    else
      repeat_channels(first, last);
  }

  void fill_channels(T* out, ErasedRange channels, int64_t stride) const {
    for (int64_t c = channels.start; c < channels.stop; ++c, out += stride)
      std::fill_n(out, stride, values_[c].value);
  }

  // Writes all channels once, then copies what there is behind itself.
  void repeat_channels(T* first, T* last) const {
    const int64_t count = last - first;
    const int64_t num_channels = shape_[channel_axis_];
    const int64_t stride = strides_[channel_axis_];
    fill_channels(first, {0, num_channels}, stride);
    for (int64_t done = num_channels * stride; done < count; done *= 2)
      std::memcpy(first + done, first,
                  static_cast<size_t>(std::min(done, count - done)) * sizeof(T));
  }

  // Keeps std::vector from packing booleans.
  struct Value {
    T value;
  };

  Shape shape_;
  Strides strides_;
  int channel_axis_;
  std::vector<Value> values_;
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
    visit_type(input.type, [&](auto zero) {
      using T = decltype(zero);
      const RegionFill<T> filler(input.shape, input.layout.find('C'), values);
      for (const ErasedRegion& region : regions) filler.fill(region, output.as<T>());
    });
  }

 private:
  EraseArguments arguments_;
};

DALI_CORE_REGISTER_OPERATOR("erase", Erase)

}  // namespace dali_core
