#include "dali_core/kernels/statistics/normalize.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "dali_core/device_arrays.hpp"
#include "dali_core/kernels/convert/convert_elements.hpp"
#include "dali_core/kernels/fill/fill.hpp"
#include "dali_core/kernels/gather/device_gather.hpp"
#include "dali_core/kernels/reduction/output_statistics.hpp"
#include "dali_core/kernels/statistics/statistics.hpp"
#include "dali_core/kernels/statistics/statistics_device.hpp"

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

  // Returns a number for each entry of the grid, or one for all; none if they are not given.
  std::vector<float> spread(const SampleContext& sample, const Grid& grid) const {
    if (!given_) return {};
    if (!is_tensor()) return {constant_};
    const Tensor& tensor = sample.argument(slot_);
    std::vector<float> values(static_cast<size_t>(tensor.num_elements()));
    convert_to_floats(tensor.data, tensor.type, values.data(), tensor.num_elements());
    if (values.size() == 1) return values;
    check_shape(tensor.shape, grid.shape);
    Tensor target;
    target.shape = grid.shape;
    std::vector<float> spread(static_cast<size_t>(grid.size));
    Repeated(tensor, target).write(values.data(), spread.data(), sizeof(float));
    return spread;
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

template <typename T>
void copy_to_all(const std::vector<T>& given, size_t size, T* to) {
  for (size_t i = 0; i < size; ++i) to[i] = given[given.size() == 1 ? 0 : i];
}

}  // namespace

// Gives number, mean and sum of squared deviations of elements, in rows.
class SampleStatistics : public TaskOperator<SampleStatistics> {
 public:
  struct Tasks {
    Gathers counts;
    StatisticsTasks statistics;

    void launch(DeviceBatch& batch) const {
      counts.launch(batch);
      statistics.launch(batch);
    }
  };
  struct Result : Inferred {
    ReductionPlan plan;
    int64_t size = 0;
    bool is_empty = false;
    std::vector<double> count;
  };

  explicit SampleStatistics(const OperatorConfig& config) : axes_(config) {}

  Result infer(const SampleContext& sample) const {
    const Tensor& input = sample.input(0);
    const ReducedDims reduced = axes_.reduced(input);
    const Grid grid(input.shape, reduced);
    Result result;
    result.type = DataType::kFloat64;
    result.shape = {3, grid.size};
    result.plan = plan_reduction(input.shape, reduced.flags);
    result.size = grid.size;
    result.is_empty = input.num_elements() == 0;
    result.count = {static_cast<double>(grid.count)};
    return result;
  }

  void run(SampleContext& sample) const override {
    const Result result = infer(sample);
    double* const counts = sample.output(result)->as<double>();
    double* const means = counts + result.size;
    std::fill_n(counts, result.size, result.count[0]);
    std::fill_n(means, 2 * result.size, 0.0);
    if (result.is_empty) return;
    OutputStatistics statistics(result.plan, sample.input(0));
    statistics.means(means);
    statistics.squared_deviations(means, /*one_mean=*/false, means + result.size);
  }

  static void add(const Result& result, TaskData& data, Tasks& tasks) {
    double* const counts = data.output().as<double>();
    // Of no elements everything is 0.
    tasks.counts.add(repeated(data.array(result.count), counts,
                              result.is_empty ? 3 * result.size : result.size));
    if (!result.is_empty)
      tasks.statistics.add_both(result.plan, data.input(), counts + result.size,
                                counts + 2 * result.size, data);
  }

 private:
  static Gather repeated(const double* value, double* to, int64_t count) {
    Gather gather;
    gather.in = value;
    gather.out = to;
    gather.element_bytes = sizeof(double);
    gather.extents = {count};
    return gather;
  }

  NormalizedAxes axes_;
};

// Puts the statistics of the samples together.
class BatchStatistics : public Operator {
 public:
  explicit BatchStatistics(const OperatorConfig&) {}

  bool reads_batch() const override { return true; }

  void run(SampleContext& sample) const override {
    std::vector<const double*> parts;
    for (int i = 0; i < sample.batch_size(); ++i) {
      const Tensor& part = sample.input_of_sample(1, i);
      if (part.type == DataType::kNone) continue;
      if (parts.empty()) check(sample.input(1).shape, part.shape);
      if (part.shape != sample.input(1).shape) continue;  // which fails by itself
      parts.push_back(part.as<double>());
    }
    const Shape& shape = sample.input(1).shape;
    double* const out = sample.output(0, DataType::kFloat64, shape).as<double>();
    for (int64_t i = 0; i < shape[1]; ++i)
      join_statistics_of(parts.data(), static_cast<int64_t>(parts.size()), shape[1], i, out);
  }

  // All samples have the same.
  void plan(DeviceBatch& batch) const override {
    std::vector<const double*> parts;
    batch.for_each([&](int i, SampleContext&) {
      check(batch.input(1, i).shape, batch.input(1, 0).shape);
      parts.push_back(batch.input(1, i).as<double>());
    });
    if (parts.empty()) return;
    const Shape shape = batch.input(1, 0).shape;
    batch.declare(0, 0, DataType::kFloat64, shape);
    batch.allocate();
    for (int i = 1; i < batch.size(); ++i) batch.forward(0, i, batch.output(0, 0));
    KernelTasks<JoinStatisticsTask> tasks;
    tasks.add({uploaded(batch, parts), batch.size(), shape[1], batch.output(0, 0).as<double>()},
              shape[1]);
    tasks.launch(batch, "join_statistics");
  }

 private:
  static void check(const Shape& shape, const Shape& first) {
    if (shape != first)
      throw std::invalid_argument(
          "dimensions that are not in axes must have the same extents in the whole batch (got " +
          std::to_string(shape[1]) + " means, and " + std::to_string(first[1]) +
          " in the first sample). Resize or pad before, or set batch=False.");
  }
};

class Normalize : public TaskOperator<Normalize> {
 public:
  struct Tasks {
    StatisticsTasks statistics;
    KernelTasks<FactorsTask> factors;
    KernelTasks<NormalizeTask> elements;

    void launch(DeviceBatch& batch) const {
      statistics.launch(batch);
      factors.launch(batch, "find_factors");
      elements.launch(batch, "normalize_elements");
    }
  };
  struct Result : Inferred {
    ReducedDims reduced;
    std::vector<float> means, multipliers;  // those that are given: one, or one for each entry
  };

  explicit Normalize(const OperatorConfig& config)
      : axes_(config),
        mean_(config, "mean"),
        deviation_(config, "stddev"),
        scale_(config.get<float>("scale")),
        shift_(config.get<float>("shift")),
        epsilon_(config.get<float>("epsilon")),
        ddof_(static_cast<double>(config.get<int64_t>("ddof"))),
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

  Result infer(const SampleContext& sample) const {
    const Tensor& input = sample.input(0);
    Result result;
    result.type = type_;
    result.shape = input.shape;
    result.layout = input.layout;
    if (input.num_elements() == 0) return result;
    result.reduced = axes_.reduced(input);
    if (!axes_.given()) {
      mean_.restrict(sample, input.shape, result.reduced);
      deviation_.restrict(sample, input.shape, result.reduced);
    }
    const Grid grid(input.shape, result.reduced);
    result.means = mean_.spread(sample, grid);
    result.multipliers = deviation_.spread(sample, grid);
    for (float& number : result.multipliers) {
      const double deviation = number;
      number = multiplier_of(deviation * deviation, epsilon_, scale_);
      if (deviation < 0) number = -number;
    }
    return result;
  }

  void run(SampleContext& sample) const override {
    const Result result = infer(sample);
    const Tensor& input = sample.input(0);
    Tensor& output = *sample.output(result);
    if (input.num_elements() == 0) return;
    const Grid grid(input.shape, result.reduced);
    const auto size = static_cast<size_t>(grid.size);
    double* const means = sample.scratch<double>(kSumsSlot, 2 * size);
    float* const factors = sample.scratch<float>(kFactorsSlot, 2 * size);
    float* const multipliers = factors + size;
    const double* const batch = sample.num_inputs() > 1 ? sample.input(1).as<double>() : nullptr;
    const ReductionPlan plan = plan_reduction(input.shape, result.reduced.flags);
    OutputStatistics statistics(plan, input);

    if (!result.means.empty()) {
      copy_to_all(result.means, size, factors);
      std::copy_n(factors, size, means);
    } else if (batch != nullptr) {
      std::copy_n(batch + size, size, means);
    } else {
      statistics.means(means);
    }
    std::copy_n(means, size, factors);

    if (!result.multipliers.empty()) {
      copy_to_all(result.multipliers, size, multipliers);
    } else {
      double* const squares = means + size;
      const double count = batch ? batch[0] : static_cast<double>(grid.count);
      if (batch == nullptr) statistics.squared_deviations(means, /*one_mean=*/false, squares);
      for (size_t i = 0; i < size; ++i) {
        if (batch != nullptr)
          squares[i] = batch_squares(count, batch[size + i], batch[2 * size + i], means[i]);
        multipliers[i] = multiplier_of(variance_of(squares[i], count, ddof_), epsilon_, scale_);
      }
    }
    normalize_elements(sample, input, grid, factors, multipliers, shift_, output);
  }

  void add(const Result& result, TaskData& data, Tasks& tasks) const {
    const Tensor input = data.input();
    const Grid grid(input.shape, result.reduced);
    FactorsTask factors{};
    if (!result.means.empty()) factors.given_means = data.array(result.means);
    factors.one_mean = result.means.size() == 1;
    if (!result.multipliers.empty()) factors.given_multipliers = data.array(result.multipliers);
    factors.one_multiplier = result.multipliers.size() == 1;
    if (data.sample().num_inputs() > 1)
      factors.statistics = data.input(1).as<double>();
    else
      add_statistics(plan_reduction(input.shape, result.reduced.flags), input, data, factors,
                     tasks.statistics);
    factors.count = static_cast<double>(grid.count);
    factors.ddof = ddof_;
    factors.epsilon = epsilon_;
    factors.scale = scale_;
    factors.size = grid.size;
    factors.factors = data.scratch<NormalizeFactors>(grid.size);
    tasks.factors.add(factors, grid.size);
    NormalizeTask elements = normalize_task(grid, input, data.output());
    elements.shift = shift_;
    elements.factors = factors.factors;
    tasks.elements.add(elements, elements.count / 4 + 1);
  }

 private:
  // What is not given.
  static void add_statistics(const ReductionPlan& plan, const Tensor& input, TaskData& data,
                             FactorsTask& factors, StatisticsTasks& tasks) {
    const bool has_means = factors.given_means != nullptr;
    const bool has_deviations = factors.given_multipliers != nullptr;
    double* const means = has_means ? nullptr : data.scratch<double>(plan.num_outputs);
    double* const squares = has_deviations ? nullptr : data.scratch<double>(plan.num_outputs);
    factors.means = means;
    factors.squares = squares;
    if (has_means && !has_deviations)
      tasks.add_squares(plan, input, factors.given_means, factors.one_mean, squares, data);
    else if (!has_means && has_deviations)
      tasks.add_means(plan, input, means, data);
    else if (!has_means)
      tasks.add_both(plan, input, means, squares, data);
  }

  NormalizedAxes axes_;
  GivenStatistic mean_, deviation_;
  float scale_, shift_, epsilon_;
  double ddof_;
  DataType type_;
};

DALI_CORE_REGISTER_OPERATOR("normalize", Normalize)
DALI_CORE_REGISTER_OPERATOR("normalize.statistics", SampleStatistics)
DALI_CORE_REGISTER_OPERATOR("normalize.batch_statistics", BatchStatistics)

}  // namespace dali_core
