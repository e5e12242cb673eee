// The arguments of fn.random.choice, and what is drawn from what.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "dali_core/operator.hpp"
#include "dali_core/operators/random/output_shape.hpp"

namespace dali_core {

// How many there are to choose from: slices of a tensor, or the numbers below a scalar; 0 if that
// is on the device.
inline uint64_t num_choices(const Tensor& from) {
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
      if (from.device != kHost) return 0;  // the kernel will see
      const From bound = *from.as<From>();
      if (bound < 1)
        throw std::invalid_argument("a scalar to choose below must be at least 1 (got " +
                                    std::to_string(bound) + "). Pass the number of choices.");
      return static_cast<uint64_t>(bound);
    }
  });
}

// The layout where each drawn slice stands at one place along one dimension, or stands alone.
inline Layout chosen_layout(const Tensor& from, const Shape& drawn) {
  if (from.shape.ndim == 0 || from.layout.empty()) return {};
  if (drawn.ndim == 1) return from.layout;
  return drawn.ndim == 0 ? Layout(from.layout.c_str() + 1) : Layout();
}

struct Chosen {
  uint64_t num_choices = 0;  // 0 for a number that only the device knows
  std::vector<double> sums;  // of probabilities, if there are any
  int64_t num_drawn = 0;
  int64_t slice_elements = 1;
  Shape shape;
  Layout layout;
};

class ChoiceArguments {
 public:
  explicit ChoiceArguments(const OperatorConfig& config)
      : probabilities_(config, "p"), shape_(config, 1) {}

  Chosen of(const SampleContext& sample) const {
    const Tensor& from = sample.input(0);
    Chosen chosen;
    chosen.num_choices = num_choices(from);
    chosen.sums = summed_probabilities(sample, chosen.num_choices);
    if (chosen.num_choices == 0) chosen.num_choices = chosen.sums.size();
    const Shape drawn = shape_.at(sample);
    chosen.num_drawn = drawn.num_elements();
    chosen.shape = drawn;
    for (int i = 1; i < from.shape.ndim; ++i) {
      chosen.shape.push_back(from.shape[i]);
      chosen.slice_elements *= from.shape[i];
    }
    chosen.layout = chosen_layout(from, drawn);
    return chosen;
  }

 private:
  std::vector<double> summed_probabilities(const SampleContext& sample, uint64_t count) const {
    if (!probabilities_.given()) return {};
    std::vector<float> storage;
    const std::vector<float>& given = probabilities_.at(sample, storage);
    if (count > 0 && given.size() != count)
      throw std::invalid_argument("p must be one probability for each of the " +
                                  std::to_string(count) + " choices (got " +
                                  std::to_string(given.size()) + "). Pass as many.");
    std::vector<double> sums;
    double sum = 0;
    for (const float probability : given) sums.push_back(sum += probability);
    if (!(std::abs(sum - 1) < 1e-4))
      throw std::invalid_argument("p must sum up to 1 (got " + std::to_string(sum) +
                                  "). Normalise them.");
    return sums;
  }

  ListArgument<float> probabilities_;
  OutputShape shape_;
};

}  // namespace dali_core
