#include "dali_core/frame_numbers.hpp"

namespace dali_core {

int64_t num_frames(const Tensor& tensor) {
  if (!is_per_frame(tensor)) return 0;
  if (tensor.shape[0] == 0)
    throw std::invalid_argument("sequences of arguments must have a frame (got shape " +
                                to_string(tensor.shape) + "). Leave out empty sequences.");
  return tensor.shape[0];
}

bool SampleFrames::have_arguments(const SampleContext& sample) {
  for (const Tensor* argument : sample.arguments_)
    if (is_per_frame(*argument)) return true;
  return false;
}

SampleFrames::SampleFrames(const SampleContext& sample) : sample_(sample) {
  const Tensor& input = sample.input(0);
  if (!is_per_frame(input))
    throw std::invalid_argument(
        "the input must be a sequence where arguments are one a frame (got layout \"" +
        std::string(input.layout.c_str()) +
        "\"). Give it a layout that starts with F, or the same argument for all.");
  count_ = input.shape[0];
  for (const Tensor* argument : sample.arguments_) {
    const int64_t frames = num_frames(*argument);
    if (frames > 1 && frames != count_)
      throw std::invalid_argument("arguments must have one value for each of the " +
                                  std::to_string(count_) + " frames, or one for all (got " +
                                  std::to_string(frames) + "). Pass as many as there are frames.");
  }
  if (count_ == 0)
    throw std::invalid_argument("sequences must have a frame here (got shape " +
                                to_string(input.shape) + "). Leave out empty sequences.");
}

Tensor SampleFrames::slice(const Tensor& sequence, int64_t number) {
  Shape shape;
  for (int i = 1; i < sequence.shape.ndim; ++i) shape.push_back(sequence.shape[i]);
  Tensor slice = viewed_as(sequence, shape, Layout(sequence.layout.c_str() + 1));
  slice.data = static_cast<char*>(sequence.data) + number * slice.num_bytes();
  return slice;
}

void SampleFrames::check_alike(DataType first_type, const Shape& first, DataType type,
                               const Shape& shape) {
  if (type != first_type || shape != first)
    throw std::logic_error("the frames of a sequence must become tensors of one type and shape.");
}

void SampleFrames::bind_arguments(int64_t number, SampleContext& frame,
                                  std::vector<Tensor>& arguments) const {
  arguments.reserve(sample_.arguments_.size());
  for (size_t i = 0; i < sample_.arguments_.size(); ++i) {
    const Tensor& argument = *sample_.arguments_[i];
    // One slice serves for all frames.
    const int64_t own = is_per_frame(argument) && argument.shape[0] > 1 ? number : 0;
    arguments.push_back(is_per_frame(argument) ? slice(argument, own) : argument);
    frame.arguments_[i] = &arguments.back();
  }
}

FrameNumbers::FrameNumbers(const OperatorConfig& config, const std::string& name)
    : slot_(config.tensor_slot(name)), given_(config.has(name)), name_(name) {
  if (slot_ < 0 && given_) {
    constant_.numbers_ = config.get<std::vector<float>>(name);
    constant_.shape_.push_back(static_cast<int64_t>(constant_.numbers_.size()));
  }
}

FrameNumbers::Values FrameNumbers::values_of(const Tensor& tensor) {
  Values values;
  values.num_frames_ = num_frames(tensor);
  for (int i = is_per_frame(tensor); i < tensor.shape.ndim; ++i)
    values.shape_.push_back(tensor.shape[i]);
  values.numbers_.resize(static_cast<size_t>(tensor.num_elements()));
  visit_type(tensor.type, [&](auto zero) {
    using Stored = decltype(zero);
    for (size_t i = 0; i < values.numbers_.size(); ++i)
      values.numbers_[i] = convert<float>(tensor.as<Stored>()[i]);
  });
  return values;
}

void FrameCount::add(int64_t frames, const std::string& what) {
  if (frames == 0 || frames == count_) return;
  if (count_ > 1 && frames > 1)
    throw std::invalid_argument(what + " must have one value for each of the " +
                                std::to_string(count_) + " frames, or one for all (got " +
                                std::to_string(frames) + "). Pass as many as there are frames.");
  count_ = frames > count_ ? frames : count_;
}

}  // namespace dali_core
