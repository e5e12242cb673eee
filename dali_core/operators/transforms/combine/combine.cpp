#include "dali_core/kernels/warp/transform_operator.hpp"

namespace dali_core {

class Combine : public Operator {
 public:
  explicit Combine(const OperatorConfig& config)
      : reverse_order_(config.get<bool>("reverse_order")) {}

  void run(SampleContext& sample) const override {
    const int ndim = transform_dims(sample.input(0));
    FrameCount frames;
    for (int i = 0; i < sample.num_inputs(); ++i) {
      const Tensor& input = sample.input(i);
      if (transform_dims(input) != ndim)
        throw std::invalid_argument(
            "inputs must be transforms of the same dimensions (got shapes " +
            to_string(sample.input(0).shape) + " and " + to_string(input.shape) +
            "). Combine transforms of one space.");
      frames.add(num_frames(input), "input " + std::to_string(i));
    }
    Tensor& output = output_transforms(sample, frames, ndim);
    for (int64_t frame = 0; frame < frames.count(); ++frame) {
      AffineTransform transform = transform_of(sample.input(0), frame, ndim);
      for (int i = 1; i < sample.num_inputs(); ++i) {
        const AffineTransform next = transform_of(sample.input(i), frame, ndim);
        transform = reverse_order_ ? compose(transform, next) : compose(next, transform);
      }
      transform.write(output.as<float>() + frame * ndim * (ndim + 1));
    }
  }

 private:
  static AffineTransform transform_of(const Tensor& input, int64_t frame, int ndim) {
    AffineTransform transform(ndim);
    const bool moves = num_frames(input) > 1;
    transform.read(input.as<float>() + (moves ? frame * ndim * (ndim + 1) : 0));
    return transform;
  }

  bool reverse_order_;
};

DALI_CORE_REGISTER_OPERATOR("transforms.combine", Combine)

}  // namespace dali_core
