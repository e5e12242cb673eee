// Operators that resize: a rule says from which part of an image to which size.
#pragma once

#include <vector>

#include "dali_core/kernels/image_chain/image_chain.hpp"
#include "dali_core/kernels/resample/resample_device.hpp"
#include "dali_core/kernels/resample/resize_image.hpp"

namespace dali_core {

template <typename Rule>
class ResizingOperator : public Operator, public ResampleStep {
 public:
  explicit ResizingOperator(const OperatorConfig& config) : rule_(config) {}

  void run(SampleContext& sample) const override {
    const Tensor& input = sample.input(0);
    const ResizeView view(input, Rule::kHasVolumes);
    ResampleAxis axes[3];
    rule_.choose(sample, view, axes);
    resize_image(sample, view, axes, rule_.output_type(input.type));
  }

  void plan(DeviceBatch& batch) const override {
    std::vector<PlannedResampling> planned;
    batch.for_each([&](int, SampleContext& sample) {
      const Tensor& input = sample.input(0);
      const ResizeView view(input, Rule::kHasVolumes);
      ResampleAxis axes[3];
      rule_.choose(sample, view, axes);
      planned.emplace_back(input, view, axes, rule_.output_type(input.type));
    });
    resample_on_device(batch, planned);
  }

  bool reshape(SampleContext& sample, ImageGeometry& image) const override {
    return rule_.reshape(sample, image);
  }

  bool is_same_for_frames(const SampleContext&, int64_t) const override { return true; }

 private:
  Rule rule_;
};

}  // namespace dali_core
