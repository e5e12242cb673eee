#include "dali_core/kernels/color/brightness_contrast.hpp"

#include <algorithm>

#include "dali_core/element_groups.hpp"
#include "dali_core/kernels/color/color_image.hpp"
#include "dali_core/kernels/convert/convert_elements.hpp"
#include "dali_core/kernels/tasks/task_operator.hpp"
#include "dali_core/simd.hpp"

#define DC_SIMD_SOURCE "dali_core/kernels/color/adjust_kernels.inc.hpp"
#include "dali_core/simd_each_level.hpp"

namespace dali_core {

class BrightnessContrastOperator : public KernelOperator<BrightnessContrastOperator, AdjustTask>,
                                   public PixelStep {
 public:
  static constexpr auto kKernel = "adjust_elements";

  explicit BrightnessContrastOperator(const OperatorConfig& config)
      : brightness_(config, "brightness"),
        shift_(config, "brightness_shift"),
        contrast_(config, "contrast"),
        center_(config, "contrast_center"),
        output_type_(config) {}

  struct Result : Inferred {
    BrightnessContrast rule;
  };

  Result infer(const SampleContext& sample) const {
    const Tensor& image = sample.input(0);
    Result result{{DataType::kNone, image.shape, color_layout(image)}, {}};
    check_color_type(image.type);
    result.type = output_type_.of(image);
    const double center = center_.given() ? center_.at(sample) : middle_of_range(image.type);
    result.rule = brightness_contrast(brightness_.at(sample), shift_.at(sample),
                                      contrast_.at(sample), center, positive_range(result.type));
    const bool changes = result.rule.factor != 1 || result.rule.offset != 0;
    if (result.type == image.type && !changes) result.forwarded = 0;
    return result;
  }

  AdjustTask task(const Result& result, TaskData& data) const {
    const Tensor image = data.input();
    return {image.data, data.output().data, image.num_elements(),
            image.type, result.type,        result.rule};
  }

  static int64_t threads_for(const AdjustTask& task) { return num_groups(task.count, kGroup - 1); }

  static void compute(const AdjustTask& task) { DC_SIMD_DISPATCH(adjust_elements, task); }

 private:
  // Half of the positive range of integers, rounded up; 0.5 for floating point.
  static double middle_of_range(DataType type) {
    const double range = positive_range(type);
    return range == 1 ? 0.5 : (range + 1) / 2;
  }

  static double positive_range(DataType type) {
    switch (type) {
      case DataType::kUInt8:
        return 255;
      case DataType::kInt16:
        return 32767;
      case DataType::kInt32:
        return 2147483647;
      default:
        return 1;
    }
  }

  Argument<float> brightness_, shift_, contrast_, center_;
  ColorOutputType output_type_;
};

DALI_CORE_REGISTER_OPERATOR("brightness_contrast", BrightnessContrastOperator)

}  // namespace dali_core
