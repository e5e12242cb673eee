#include "dali_core/kernels/boxes/boxes.hpp"
#include "dali_core/operator.hpp"

namespace dali_core {

class BoxPaste : public Operator {
 public:
  explicit BoxPaste(const OperatorConfig& config)
      : ratio_(config, "ratio"),
        x_(config, "paste_x"),
        y_(config, "paste_y"),
        is_corners_(config.get<bool>("ltrb")) {}

  void run(SampleContext& sample) const override {
    const Tensor& boxes = sample.input(0);
    const int64_t count = count_boxes(boxes);
    const float ratio = ratio_.at(sample);
    const float scale = 1 / ratio;
    const float free = 1 - scale;
    const float start[2] = {x_.at(sample) * free, y_.at(sample) * free};
    const float* in = boxes.as<float>();
    float* out = sample.output(0, boxes.type, boxes.shape, boxes.layout).as<float>();
    for (int64_t i = 0; i < 4 * count; ++i) {
      const bool is_extent = !is_corners_ && i % 4 >= 2;
      out[i] = in[i] * scale + (is_extent ? 0.0f : start[i % 2]);
    }
  }

 private:
  Argument<float> ratio_, x_, y_;
  bool is_corners_;
};

DALI_CORE_REGISTER_OPERATOR("bbox_paste", BoxPaste)

}  // namespace dali_core
