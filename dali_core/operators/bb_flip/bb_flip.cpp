#include "dali_core/kernels/boxes/boxes.hpp"
#include "dali_core/operator.hpp"

namespace dali_core {

class BoxFlip : public Operator {
 public:
  explicit BoxFlip(const OperatorConfig& config)
      : horizontal_(config, "horizontal"),
        vertical_(config, "vertical"),
        is_corners_(config.get<bool>("ltrb")) {}

  void run(SampleContext& sample) const override {
    const Tensor& boxes = sample.input(0);
    const int64_t count = count_boxes(boxes);
    const bool horizontal = horizontal_.at(sample) != 0;
    const bool vertical = vertical_.at(sample) != 0;
    const float* in = boxes.as<float>();
    float* out = sample.output(0, boxes.type, boxes.shape, boxes.layout).as<float>();
    for (int64_t i = 0; i < count; ++i, in += 4, out += 4) {
      Box box = read_box(in, is_corners_);
      if (horizontal) box = {1 - box.right, box.top, 1 - box.left, box.bottom};
      if (vertical) box = {box.left, 1 - box.bottom, box.right, 1 - box.top};
      write_box(box, is_corners_, out);
    }
  }

 private:
  Argument<int> horizontal_, vertical_;
  bool is_corners_;
};

DALI_CORE_REGISTER_OPERATOR("bb_flip", BoxFlip)

}  // namespace dali_core
