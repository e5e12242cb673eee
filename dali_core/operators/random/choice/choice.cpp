#include "dali_core/operators/random/choice/choice.hpp"

#include <cmath>
#include <cstring>

#include "dali_core/operator.hpp"
#include "dali_core/operators/random/output_shape.hpp"

namespace dali_core {
namespace {

// What is chosen from: slices of a tensor, or the numbers below a scalar.
uint64_t num_choices(const Tensor& from) {
  if (from.shape.ndim > 0) {
    if (from.num_elements() == 0)
      throw std::invalid_argument("there must be something to choose from (got shape " +
                                  to_string(from.shape) + "). Pass at least one element.");
    return static_cast<uint64_t>(from.shape[0]);
  }
  return visit_type(from.type, [&](auto zero) -> uint64_t {
    using From = decltype(zero);
    if constexpr (is_floating<From> || std::is_same_v<From, bool>) {
      throw std::invalid_argument("a scalar to choose below must be an integer (got " +
                                  std::string(name_of(from.type)) +
                                  "). Pass an integer, or the elements to choose from.");
    } else {
      const From bound = *from.as<From>();
      if (bound < 1)
        throw std::invalid_argument("a scalar to choose below must be at least 1 (got " +
                                    std::to_string(bound) + "). Pass the number of choices.");
      return static_cast<uint64_t>(bound);
    }
  });
}

// The layout where each drawn slice stands at one place along one dimension, or stands alone.
Layout output_layout(const Tensor& from, const Shape& drawn) {
  if (from.shape.ndim == 0 || from.layout.empty()) return {};
  if (drawn.ndim == 1) return from.layout;
  return drawn.ndim == 0 ? Layout(from.layout.c_str() + 1) : Layout();
}

}  // namespace

class Choice : public Operator {
 public:
  explicit Choice(const OperatorConfig& config)
      : probabilities_(config, "p"), shape_(config, 1), seed_(config.seed) {}

  void run(SampleContext& sample) const override {
    const Tensor& from = sample.input(0);
    const uint64_t count = num_choices(from);
    const std::vector<double> sums = summed_probabilities(sample, count);
    RandomStream random = sample.random(seed_);
    const auto choose = [&] {
      return sums.empty() ? choose_below(random, count)
                          : choose_by_sums(sums, random.next_double());
    };
    const Shape drawn = shape_.at(sample);
    Shape shape = drawn;
    int64_t slice_elements = 1;
    for (int i = 1; i < from.shape.ndim; ++i) {
      shape.push_back(from.shape[i]);
      slice_elements *= from.shape[i];
    }
    Tensor& output = sample.output(0, from.type, shape, output_layout(from, drawn));
    const int64_t num_drawn = drawn.num_elements();
    if (from.shape.ndim == 0) {
      visit_type(from.type, [&](auto zero) {
        using To = decltype(zero);
        for (int64_t i = 0; i < num_drawn; ++i) output.as<To>()[i] = convert<To>(choose());
      });
      return;
    }
    const auto slice_bytes = static_cast<size_t>(slice_elements * size_of(from.type));
    for (int64_t i = 0; i < num_drawn; ++i)
      std::memcpy(output.as<char>() + static_cast<size_t>(i) * slice_bytes,
                  from.as<char>() + choose() * slice_bytes, slice_bytes);
  }

 private:
  std::vector<double> summed_probabilities(const SampleContext& sample, uint64_t count) const {
    if (!probabilities_.given()) return {};
    std::vector<float> storage;
    const std::vector<float>& given = probabilities_.at(sample, storage);
    if (given.size() != count)
      throw std::invalid_argument("p must be one probability for each of the " +
                                  std::to_string(count) + " choices (got " +
                                  std::to_string(given.size()) + "). Pass as many.");
    std::vector<double> sums;
    double sum = 0;
    for (const float probability : given) {
      if (!(probability >= 0 && probability <= 1))
        throw std::invalid_argument("p must be probabilities from 0 to 1 (got " +
                                    std::to_string(probability) + "). Normalise them.");
      sums.push_back(sum += probability);
    }
    if (!(std::abs(sum - 1) < 1e-4))
      throw std::invalid_argument("p must sum up to 1 (got " + std::to_string(sum) +
                                  "). Normalise them.");
    return sums;
  }

  ListArgument<float> probabilities_;
  OutputShape shape_;
  uint64_t seed_;
};

DALI_CORE_REGISTER_OPERATOR("random.choice", Choice)

}  // namespace dali_core
