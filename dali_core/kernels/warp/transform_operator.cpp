#include "dali_core/kernels/warp/transform_operator.hpp"

namespace dali_core {

int transform_dims(const Tensor& tensor) {
  const bool sequence = is_per_frame(tensor);
  const Shape& shape = tensor.shape;
  const int64_t rows = shape.ndim == 2 + sequence ? shape[sequence] : 0;
  if (rows < 1 || rows > kMaxTransformDims || shape[sequence + 1] != rows + 1 ||
      tensor.type != DataType::kFloat)
    throw std::invalid_argument(
        "transforms must be float32 matrices of N rows and N + 1 columns, with N from 1 to 6 "
        "(got " +
        std::string(name_of(tensor.type)) + " of shape " + to_string(shape) +
        "). Make them with fn.transforms, or set a layout that starts with F for one a frame.");
  return static_cast<int>(rows);
}

Tensor& output_transforms(SampleContext& sample, const FrameCount& frames, int ndim) {
  Shape shape;
  if (frames.is_sequence()) shape.push_back(frames.count());
  shape.push_back(ndim);
  shape.push_back(ndim + 1);
  return sample.output(0, DataType::kFloat, shape, frames.is_sequence() ? "F**" : "**");
}

void TransformOperator::run(SampleContext& sample) const {
  std::vector<FrameNumbers::Values> values;
  FrameCount frames;
  const Tensor* input = sample.num_inputs() > 0 ? &sample.input(0) : nullptr;
  const int input_dims = input ? transform_dims(*input) : 0;
  if (input) frames.add(num_frames(*input), "the input");
  for (const FrameNumbers& argument : arguments_) {
    values.push_back(argument.at(sample));
    frames.add(values.back().num_frames(), argument.name());
  }
  const int ndim = num_dims(values, input_dims);
  check_dims(ndim, input_dims);
  Tensor& output = output_transforms(sample, frames, ndim);
  const int64_t size = int64_t{ndim} * (ndim + 1);
  const bool moves = input && num_frames(*input) > 1;
  for (int64_t frame = 0; frame < frames.count(); ++frame) {
    AffineTransform transform(ndim);
    make(values, frame, transform);
    if (input) {
      AffineTransform before(ndim);
      before.read(input->as<float>() + (moves ? frame * size : 0));
      transform = reverse_order_ ? compose(before, transform) : compose(transform, before);
    }
    transform.write(output.as<float>() + frame * size);
  }
}

TransformOperator::TransformOperator(const OperatorConfig& config,
                                     std::initializer_list<const char*> arguments)
    : reverse_order_(config.get<bool>("reverse_order")) {
  for (const char* name : arguments) arguments_.emplace_back(config, name);
}

void TransformOperator::spread(const Values& values, int i, int64_t frame, int ndim,
                               float* spread) const {
  const int64_t count = values[i].count();
  if (count != 1 && count != ndim)
    throw std::invalid_argument(arguments_[i].name() + " must have one number, or one for each " +
                                "of " + std::to_string(ndim) + " dimensions (got " +
                                std::to_string(count) + "). Pass as many as there are.");
  const float* numbers = values[i].of(frame);
  for (int k = 0; k < ndim; ++k) spread[k] = numbers[count == 1 ? 0 : k];
}

void TransformOperator::move_center(const Values& values, int i, int64_t frame,
                                    AffineTransform& transform) const {
  if (!arguments_[i].given()) return;
  float center[kMaxTransformDims];
  spread(values, i, frame, transform.ndim, center);
  transform.move_center(center);
}

void TransformOperator::check_dims(int ndim, int input_dims) {
  if (ndim < 1 || ndim > kMaxTransformDims)
    throw std::invalid_argument("transforms must have 1 to 6 dimensions (got " +
                                std::to_string(ndim) + "). Pass as many numbers.");
  if (input_dims > 0 && input_dims != ndim)
    throw std::invalid_argument(
        "the arguments must describe a transform of as many dimensions "
        "as the input (got " +
        std::to_string(ndim) + " and " + std::to_string(input_dims) +
        "). Pass one number for each dimension.");
}

}  // namespace dali_core
