// fn.mixup and fn.cutmix: which samples are mixed, how much of each, and their labels.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include "dali_core/kernels/convert/convert_elements.hpp"
#include "dali_core/kernels/random/beta.hpp"
#include "dali_core/kernels/random/random_order.hpp"
#include "dali_core/operator.hpp"

namespace dali_core {

// The samples that are mixed, in one order of the batch, and the random numbers of each pair.
class BatchMixing {
 public:
  explicit BatchMixing(const OperatorConfig& config)
      : alpha_(config.get<float>("alpha")),
        per_sample_(config.get<bool>("per_sample")),
        num_classes_(config.get<int64_t>("num_classes")),
        seed_(config.seed) {}

  // The number of the sample whose image and label are mixed into this one.
  int partner(SampleContext& sample) const {
    const auto size = static_cast<int32_t>(sample.batch_size());
    RandomStream random(mix64(seed_), sample.batch_key());
    int32_t* const order = sample.scratch<int32_t>(0, static_cast<size_t>(size));
    random_order(order, size, false, random);
    return order[sample.index_in_batch()];
  }

  // The first draw of each stream: those of the order have another seed.
  RandomStream random(const SampleContext& sample) const {
    return RandomStream(seed_, per_sample_ ? sample.key() : sample.batch_key());
  }

  // Part of the sample itself, of Beta(alpha, alpha).
  double weight(RandomStream& random) const {
    const double first = log_gamma_variate(alpha_, random);
    return beta_from_gammas(first, log_gamma_variate(alpha_, random));
  }

  // The image of a sample, which must be like the one that it is mixed into.
  static const Tensor& image_of(const SampleContext& sample, int partner) {
    const Tensor& image = sample.input(0);
    const Tensor& other = good_input(sample, 0, partner);
    if (other.type != image.type || !(other.shape == image.shape))
      throw std::invalid_argument("the images of a batch must have one shape and type (got " +
                                  described(image) + ", and " + described(other) + " of sample " +
                                  std::to_string(partner) + "). Resize, crop or cast them before.");
    return other;
  }

  // Makes output 1 the weighted mean of both labels.
  void mix_labels(SampleContext& sample, int partner, float weight) const {
    const Tensor& label = sample.input(1);
    const Tensor& other = good_input(sample, 1, partner);
    const int64_t count = num_scores(label);
    if (num_scores(other) != count)
      throw std::invalid_argument(
          "the labels of a batch must have one length (got " + std::to_string(count) + ", and " +
          std::to_string(num_scores(other)) + " of sample " + std::to_string(partner) +
          "). Pass num_classes, or rows of one length.");
    Shape shape;
    shape.push_back(count);
    float* const scores = sample.output(1, DataType::kFloat, shape).template as<float>();
    float* const others = sample.scratch<float>(1, static_cast<size_t>(count));
    read_scores(label, count, scores);
    read_scores(other, count, others);
    for (int64_t i = 0; i < count; ++i)
      scores[i] = weight * scores[i] + (1.0f - weight) * others[i];
  }

 private:
  static std::string described(const Tensor& image) {
    return std::string(name_of(image.type)) + " " + to_string(image.shape);
  }

  static const Tensor& good_input(const SampleContext& sample, int i, int partner) {
    const Tensor& found = sample.input_of_sample(i, partner);
    if (found.type == DataType::kNone)
      throw std::runtime_error("sample " + std::to_string(partner) +
                               ", which is mixed into this one, must be good (it failed before).");
    return found;
  }

  static bool is_class(const Tensor& label) {
    const bool is_float = label.type == DataType::kFloat16 || label.type == DataType::kFloat ||
                          label.type == DataType::kFloat64;
    return !is_float && label.shape.ndim <= 1 && label.num_elements() == 1;
  }

  int64_t num_scores(const Tensor& label) const {
    if (is_class(label)) {
      if (num_classes_ == 0)
        throw std::invalid_argument(
            "num_classes must be given where labels are class numbers (got none). Pass "
            "num_classes, or a row of a float for each class.");
      return num_classes_;
    }
    const int64_t count = label.num_elements();
    if (label.shape.ndim != 1 || (num_classes_ != 0 && count != num_classes_))
      throw std::invalid_argument("labels must be class numbers, or rows of " +
                                  (num_classes_ != 0 ? std::to_string(num_classes_) + " numbers"
                                                     : std::string("one number for each class")) +
                                  " (got " + described(label) + "). Convert them.");
    return count;
  }

  void read_scores(const Tensor& label, int64_t count, float* scores) const {
    if (!is_class(label)) {
      convert_to_floats(label.data, label.type, scores, count);
      return;
    }
    int64_t number = 0;
    visit_type(label.type, [&](auto zero) {
      number = convert<int64_t>(*static_cast<const decltype(zero)*>(label.data));
    });
    if (number < 0 || number >= count)
      throw std::invalid_argument("labels must be class numbers from 0 to " +
                                  std::to_string(count - 1) + " (got " + std::to_string(number) +
                                  "). Pass a larger num_classes, or fix the label.");
    for (int64_t i = 0; i < count; ++i) scores[i] = i == number ? 1.0f : 0.0f;
  }

  float alpha_;
  bool per_sample_;
  int64_t num_classes_;
  uint64_t seed_;
};

}  // namespace dali_core
