#include "dali_core/operators/random/uniform/uniform.hpp"

#include "dali_core/operator.hpp"
#include "dali_core/operators/random/output_shape.hpp"

namespace dali_core {
namespace {

// Types with more than 24 bits get numbers that can reach all of them.
template <typename T>
constexpr bool kIsFine = sizeof(T) >= 4 && !std::is_same_v<T, float>;

template <typename T>
T draw_from_range(RandomStream& random, float low, float high) {
  if constexpr (kIsFine<T>)
    return convert<T>(uniform_in_range(random.next_double(), low, high));
  else
    return convert<T>(uniform_in_range(random.next_float(), low, high));
}

}  // namespace

class Uniform : public Operator {
 public:
  explicit Uniform(const OperatorConfig& config)
      : range_(config, "range"),
        values_(config, "values"),
        shape_(config),
        type_(config.get_or<DataType>("dtype", DataType::kFloat)),
        seed_(config.seed) {
    if (values_.given()) {
      if (values_.is_constant()) check_values(config.get<std::vector<float>>("values"));
    } else if (range_.is_constant()) {
      check_range(config.get<std::vector<float>>("range"));
    }
  }

  void run(SampleContext& sample) const override {
    Tensor& output = sample.output(0, type_, shape_.at(sample));
    std::vector<float> storage;
    const std::vector<float>& parameters = (values_.given() ? values_ : range_).at(sample, storage);
    values_.given() ? check_values(parameters) : check_range(parameters);
    RandomStream random = sample.random(seed_);
    const int64_t count = output.num_elements();
    visit_type(type_, [&](auto zero) {
      using To = decltype(zero);
      To* const numbers = output.as<To>();
      if (values_.given()) {
        const auto choices = static_cast<uint32_t>(parameters.size());
        for (int64_t i = 0; i < count; ++i)
          numbers[i] = convert<To>(parameters[random.next_below(choices)]);
      } else {
        for (int64_t i = 0; i < count; ++i)
          numbers[i] = draw_from_range<To>(random, parameters[0], parameters[1]);
      }
    });
  }

 private:
  static void check_range(const std::vector<float>& range) {
    if (range.size() != 2)
      throw std::invalid_argument("range must be two numbers (got " + std::to_string(range.size()) +
                                  "). Pass (least, end).");
    if (!(range[0] < range[1]) || !std::isfinite(range[0]) || !std::isfinite(range[1]))
      throw std::invalid_argument("range must end above its start, both finite (got " +
                                  std::to_string(range[0]) + " to " + std::to_string(range[1]) +
                                  "). Pass (least, end).");
  }

  static void check_values(const std::vector<float>& values) {
    if (values.empty())
      throw std::invalid_argument(
          "values must not be empty (got no number). Pass the numbers to choose from.");
  }

  ListArgument<float> range_, values_;
  OutputShape shape_;
  DataType type_;
  uint64_t seed_;
};

DALI_CORE_REGISTER_OPERATOR("random.uniform", Uniform)

}  // namespace dali_core
