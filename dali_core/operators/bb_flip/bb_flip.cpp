#include "dali_core/kernels/boxes/boxes.hpp"
#include "dali_core/kernels/tasks/task_operator.hpp"

namespace dali_core {

class BoxFlip : public KernelOperator<BoxFlip, BoxFlipTask> {
 public:
  static constexpr auto kKernel = "flip_boxes";

  explicit BoxFlip(const OperatorConfig& config)
      : horizontal_(config, "horizontal"),
        vertical_(config, "vertical"),
        is_corners_(config.get<bool>("ltrb")) {}

  Inferred infer(const SampleContext& sample) const {
    const Tensor& boxes = sample.input(0);
    count_boxes(boxes);
    return {boxes.type, boxes.shape, boxes.layout};
  }

  BoxFlipTask task(const Inferred&, TaskData& data) const {
    const Tensor boxes = data.input();
    const SampleContext& sample = data.sample();
    return {boxes.as<float>(), data.output().as<float>(),   count_boxes(boxes),
            is_corners_,       horizontal_.at(sample) != 0, vertical_.at(sample) != 0};
  }

  static int64_t threads_for(const BoxFlipTask& task) { return task.count; }

  static void compute(const BoxFlipTask& task) {
    for (int64_t i = 0; i < task.count; ++i) flip_box(task, i);
  }

 private:
  Argument<int> horizontal_, vertical_;
  bool is_corners_;
};

DALI_CORE_REGISTER_OPERATOR("bb_flip", BoxFlip)

}  // namespace dali_core
