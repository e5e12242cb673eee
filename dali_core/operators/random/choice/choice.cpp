#include "dali_core/kernels/random/choice.hpp"

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "dali_core/kernels/convert/cast_operator.hpp"
#include "dali_core/kernels/random/output_shape.hpp"

namespace dali_core {
namespace {

// How many there are to choose from: slices of a tensor, or the numbers below a scalar; 0 if that
// is on the device.
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
Layout chosen_layout(const Tensor& from, const Shape& drawn) {
  if (from.shape.ndim == 0 || from.layout.empty()) return {};
  if (drawn.ndim == 1) return from.layout;
  return drawn.ndim == 0 ? Layout(from.layout.c_str() + 1) : Layout();
}

}  // namespace

struct Chosen : Inferred {
  uint64_t num_choices = 0;  // 0 for a number that only the device knows
  std::vector<double> sums;  // of probabilities, if there are any
  int64_t num_drawn = 0;
  int64_t slice_elements = 1;
};

class Choice : public TaskOperator<Choice> {
 public:
  explicit Choice(const OperatorConfig& config)
      : probabilities_(config, "p"), shape_(config, 1), seed_(config.seed) {}

  Chosen infer(const SampleContext& sample) const {
    const Tensor& from = sample.input(0);
    Chosen chosen;
    chosen.type = from.type;
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

  void run(SampleContext& sample) const override {
    const Tensor& from = sample.input(0);
    const Chosen chosen = infer(sample);
    RandomStream random = sample.random(seed_);
    const auto choose = [&] {
      return chosen.sums.empty()
                 ? choose_below(random, chosen.num_choices)
                 : choose_by_sums(chosen.sums.data(), chosen.num_choices, random.next_double());
    };
    Tensor& output = *sample.output(chosen);
    if (from.shape.ndim == 0) {
      visit_type(from.type, [&](auto zero) {
        using To = decltype(zero);
        for (int64_t i = 0; i < chosen.num_drawn; ++i) output.as<To>()[i] = convert<To>(choose());
      });
      return;
    }
    const auto slice_bytes = static_cast<size_t>(chosen.slice_elements * size_of(from.type));
    for (int64_t i = 0; i < chosen.num_drawn; ++i)
      std::memcpy(output.as<char>() + static_cast<size_t>(i) * slice_bytes,
                  from.as<char>() + choose() * slice_bytes, slice_bytes);
  }

  struct Tasks {
    KernelTasks<ChoiceTask> choices;
    KernelTasks<CastTask> casts;
    KernelTasks<ChosenCopy> copies;

    void launch(DeviceBatch& batch) const {
      choices.launch(batch, "choose");
      choices.launch_single_blocks(batch, "choose_again", 32);
      casts.launch(batch, "cast_elements");
      copies.launch(batch, "copy_chosen");
    }
  };

  void add(const Chosen& chosen, TaskData& data, Tasks& tasks) const {
    const Tensor from = data.input();
    const Tensor& output = data.output();
    int64_t* const numbers = data.scratch<int64_t>(chosen.num_drawn);
    const double* const sums = chosen.sums.empty() ? nullptr : data.array(chosen.sums);
    tasks.choices.add({numbers, sums, data.variable(0), chosen.num_drawn, chosen.num_choices,
                       from.data, from.type, seed_, data.sample().key()},
                      chosen.num_drawn);
    if (from.shape.ndim == 0) {
      const CastTask cast{numbers, output.data, chosen.num_drawn, DataType::kUInt64, from.type};
      tasks.casts.add(cast, cast_threads(cast));
    } else {
      tasks.copies.add({from.data, output.data, numbers, output.num_elements(),
                        chosen.slice_elements, static_cast<int>(size_of(from.type))},
                       output.num_elements());
    }
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
  uint64_t seed_;
};

DALI_CORE_REGISTER_OPERATOR("random.choice", Choice)

}  // namespace dali_core
