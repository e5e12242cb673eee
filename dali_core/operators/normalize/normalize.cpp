#include "dali_core/kernels/statistics/normalize.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "dali_core/kernels/convert/convert_elements.hpp"
#include "dali_core/kernels/fill/fill.hpp"
#include "dali_core/kernels/reduction/output_statistics.hpp"
#include "dali_core/kernels/statistics/statistics.hpp"

namespace dali_core {
namespace {

constexpr size_t kSumsSlot = 2;
constexpr size_t kFactorsSlot = 3;

// A mean or deviation that is given: a number, or a tensor with each sample.
class GivenStatistic {
 public:
  GivenStatistic(const OperatorConfig& config, const char* name)
      : name_(name), slot_(config.tensor_slot(name)), given_(config.has(name)) {
    if (given_ && slot_ < 0) constant_ = config.get<float>(name);
  }

  bool given() const { return given_; }
  bool is_constant() const { return given_ && slot_ < 0; }
  bool is_tensor() const { return slot_ >= 0; }

  // Keeps those dimensions in `reduced` in which there is one element.
  void restrict(const SampleContext& sample, const Shape& input, ReducedDims& reduced) const {
    if (!is_tensor()) return;
    const Shape& shape = sample.argument(slot_).shape;
    const int missing = input.ndim - shape.ndim;
    for (int i = std::max(missing, 0); i < input.ndim; ++i)
      if (shape[i - missing] != 1) reduced[i] = false;
  }

  // Writes a number for each entry of the grid.
  void spread(const SampleContext& sample, const Grid& grid, float* to) const {
    if (!is_tensor()) {
      std::fill_n(to, grid.size, constant_);
      return;
    }
    const Tensor& tensor = sample.argument(slot_);
    if (tensor.num_elements() == 1) {
      float value;
      convert_to_floats(tensor.data, tensor.type, &value, 1);
      std::fill_n(to, grid.size, value);
      return;
    }
    check_shape(tensor.shape, grid.shape);
    Tensor target;
    target.shape = grid.shape;
    std::vector<float> values(static_cast<size_t>(tensor.num_elements()));
    convert_to_floats(tensor.data, tensor.type, values.data(), tensor.num_elements());
    Repeated(tensor, target).write(values.data(), to, sizeof(float));
  }

 private:
  void check_shape(const Shape& shape, const Shape& grid) const {
    const int missing = grid.ndim - shape.ndim;
    bool fits = missing >= 0;
    for (int i = 0; i < shape.ndim && fits; ++i)
      fits = shape[i] == 1 || shape[i] == grid[i + missing];
    if (!fits)
      throw std::invalid_argument(std::string(name_) +
                                  " must have extents of 1, or those of the input in dimensions "
                                  "that are not in axes (got shape " +
                                  to_string(shape) + " for " + to_string(grid) +
                                  "). Reshape it, or set other axes.");
  }

  const char* name_;
  int slot_;
  bool given_;
  float constant_ = 0;
};

}  // namespace

// Gives number, mean and sum of squared deviations of elements, in rows.
class SampleStatistics : public Operator {
 public:
  explicit SampleStatistics(const OperatorConfig& config) : axes_(config) {}

  void run(SampleContext& sample) const override {
    const Tensor& input = sample.input(0);
    const ReducedDims reduced = axes_.reduced(input);
    const Grid grid(input.shape, reduced);
    double* const counts = sample.output(0, DataType::kFloat64, {3, grid.size}).as<double>();
    double* const means = counts + grid.size;
    std::fill_n(counts, 3 * grid.size, 0.0);
    if (input.num_elements() == 0) return;
    std::fill_n(counts, grid.size, static_cast<double>(grid.count));
    const ReductionPlan plan = plan_reduction(input.shape, reduced.flags);
    OutputStatistics statistics(plan, input);
    statistics.means(means);
    statistics.squared_deviations(means, /*one_mean=*/false, means + grid.size);
  }

 private:
  NormalizedAxes axes_;
};

// Puts the statistics of the samples together, in their order, in the way of Chan, Golub and
// LeVeque, "Updating formulae and a pairwise algorithm for computing sample variances", 1979.
class BatchStatistics : public Operator {
 public:
  explicit BatchStatistics(const OperatorConfig&) {}

  bool reads_batch() const override { return true; }

  void run(SampleContext& sample) const override {
    std::vector<const Tensor*> parts;
    for (int i = 0; i < sample.batch_size(); ++i) {
      const Tensor& part = sample.input_of_sample(1, i);
      if (part.type != DataType::kNone) parts.push_back(&part);
    }
    const Shape& shape = sample.input(1).shape;
    if (shape != parts.front()->shape)
      throw std::invalid_argument(
          "dimensions that are not in axes must have the same extents in the whole batch (got " +
          std::to_string(shape[1]) + " means, and " + std::to_string(parts.front()->shape[1]) +
          " in the first sample). Resize or pad before, or set batch=False.");
    const int64_t size = shape[1];
    double* const counts = sample.output(0, DataType::kFloat64, shape).as<double>();
    double* const means = counts + size;
    double* const squares = means + size;
    std::fill_n(counts, 3 * size, 0.0);
    for (const Tensor* part : parts) {
      if (part->shape != shape) return;  // which fails by itself
      const double* const from = part->as<double>();
      for (int64_t i = 0; i < size; ++i) {
        counts[i] += from[i];
        means[i] += from[i] * from[size + i];
      }
    }
    for (int64_t i = 0; i < size; ++i) means[i] /= std::max(counts[i], 1.0);
    for (const Tensor* part : parts) {
      const double* const from = part->as<double>();
      for (int64_t i = 0; i < size; ++i) {
        const double difference = from[size + i] - means[i];
        squares[i] += from[2 * size + i] + from[i] * difference * difference;
      }
    }
  }
};

class Normalize : public Operator {
 public:
  explicit Normalize(const OperatorConfig& config)
      : axes_(config),
        mean_(config, "mean"),
        deviation_(config, "stddev"),
        scale_(config.get<float>("scale")),
        shift_(config.get<float>("shift")),
        epsilon_(config.get<float>("epsilon")),
        ddof_(config.get<int64_t>("ddof")),
        type_(config.get<DataType>("dtype")) {
    if (config.get<bool>("batch") && (mean_.is_tensor() || deviation_.is_tensor()))
      throw std::invalid_argument(
          "mean and stddev must be numbers where batch is set (got a tensor for each sample). Pass "
          "numbers, or set batch=False.");
    if (axes_.given() && mean_.is_constant() && deviation_.is_constant())
      throw std::invalid_argument(
          "axes must be left out where mean and stddev are numbers (got all of them). There is "
          "nothing to compute along them.");
  }

  void run(SampleContext& sample) const override {
    const Tensor& input = sample.input(0);
    Tensor& output = sample.output(0, type_, input.shape, input.layout);
    if (input.num_elements() == 0) return;
    ReducedDims reduced = axes_.reduced(input);
    if (!axes_.given()) {
      mean_.restrict(sample, input.shape, reduced);
      deviation_.restrict(sample, input.shape, reduced);
    }
    const Grid grid(input.shape, reduced);
    const auto size = static_cast<size_t>(grid.size);
    double* const means = sample.scratch<double>(kSumsSlot, 2 * size);
    float* const factors = sample.scratch<float>(kFactorsSlot, 2 * size);
    float* const multipliers = factors + size;
    const bool is_batch = sample.num_inputs() > 1;
    const ReductionPlan plan = plan_reduction(input.shape, reduced.flags);
    OutputStatistics statistics(plan, input);

    if (mean_.given()) {
      mean_.spread(sample, grid, factors);
      std::copy_n(factors, size, means);
    } else if (is_batch) {
      std::copy_n(sample.input(1).as<double>() + size, size, means);
    } else {
      statistics.means(means);
    }
    std::copy_n(means, size, factors);

    if (deviation_.given()) {
      deviation_.spread(sample, grid, multipliers);
      for (size_t i = 0; i < size; ++i) {
        const double deviation = multipliers[i];
        multipliers[i] = multiplier_of(deviation * deviation, epsilon_, scale_);
        if (deviation < 0) multipliers[i] = -multipliers[i];
      }
    } else {
      double* const squares = means + size;
      double count = static_cast<double>(grid.count);
      if (is_batch)
        count = batch_squares(sample.input(1).as<double>(), size, means, squares);
      else
        statistics.squared_deviations(means, /*one_mean=*/false, squares);
      for (size_t i = 0; i < size; ++i)
        multipliers[i] = multiplier_of(variance_of(squares[i], count, static_cast<double>(ddof_)),
                                       epsilon_, scale_);
    }
    normalize_elements(sample, input, grid, factors, multipliers, shift_, output);
  }

 private:
  // Squared differences of the elements of the batch from `means`; gives the number of elements.
  static double batch_squares(const double* statistics, size_t size, const double* means,
                              double* squares) {
    const double count = statistics[0];
    for (size_t i = 0; i < size; ++i) {
      const double difference = statistics[size + i] - means[i];
      squares[i] = statistics[2 * size + i] + count * difference * difference;
    }
    return count;
  }

  NormalizedAxes axes_;
  GivenStatistic mean_, deviation_;
  float scale_, shift_, epsilon_;
  int64_t ddof_;
  DataType type_;
};

DALI_CORE_REGISTER_OPERATOR("normalize", Normalize)
DALI_CORE_REGISTER_OPERATOR("normalize.statistics", SampleStatistics)
DALI_CORE_REGISTER_OPERATOR("normalize.batch_statistics", BatchStatistics)

}  // namespace dali_core
