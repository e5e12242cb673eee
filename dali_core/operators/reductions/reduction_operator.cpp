#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>

#include "dali_core/kernels/fill/fill_elements.hpp"
#include "dali_core/kernels/gather/device_gather.hpp"
#include "dali_core/kernels/reduction/output_statistics.hpp"
#include "dali_core/kernels/reduction/reduced_axes.hpp"
#include "dali_core/kernels/reduction/reduction_device.hpp"

namespace dali_core {
namespace {

bool is_float_type(DataType type) {
  return type == DataType::kFloat16 || type == DataType::kFloat || type == DataType::kFloat64;
}

bool is_signed_integer(DataType type) {
  return type == DataType::kInt8 || type == DataType::kInt16 || type == DataType::kInt32 ||
         type == DataType::kInt64;
}

// Scratch slots.
constexpr int kSums = 0;
constexpr int kMeans = 1;

void write_doubles(const double* sums, double count, Finish finish, Tensor& output) {
  visit_type(output.type, [&](auto zero) {
    using To = decltype(zero);
    To* out = output.as<To>();
    const int64_t num_outputs = output.num_elements();
    for (int64_t i = 0; i < num_outputs; ++i) out[i] = finished_double<To>(sums[i], count, finish);
  });
}

void write_integers(const uint64_t* sums, bool is_signed, int64_t count, Finish finish,
                    Tensor& output) {
  visit_type(output.type, [&](auto zero) {
    using To = decltype(zero);
    To* out = output.as<To>();
    const int64_t num_outputs = output.num_elements();
    for (int64_t i = 0; i < num_outputs; ++i)
      out[i] = finished_sum<To>(sums[i], is_signed, count, finish);
  });
}

Finish finish_in(const OperatorConfig& config) {
  const auto finish = config.get<std::string>("finish");
  return finish == "sum" ? Finish::kSum : finish == "mean" ? Finish::kMean : Finish::kRoot;
}

// Whether doubles hold the sums of so many integers of this type, or of their squares.
bool is_exact_in_doubles(DataType type, int64_t terms, bool squares) {
  const int64_t bits = 8 * size_of(type) * (squares ? 2 : 1);
  return bits < 53 && terms <= int64_t{1} << (53 - bits);
}

}  // namespace

// What all reductions infer.
struct Reduced : Inferred {
  ReductionPlan plan;
  // Of no elements every output is the same: its bits.
  std::vector<uint64_t> constant;
};

struct ReductionTasks {
  FoldTasks folds;
  Gathers constants;

  void launch(DeviceBatch& batch) const {
    folds.launch(batch);
    constants.launch(batch);
  }
};

// Needs `type(input_type)` of outputs; `write_constant(reduced, output)`, which writes one of no
// elements; `reduce(reduced, sample, output)` for the host, and `fold(reduced, data)` for a device.
template <typename Self>
class Reduction : public TaskOperator<Self> {
 public:
  using Tasks = ReductionTasks;

  explicit Reduction(const OperatorConfig& config) : axes_(config) {}

  Reduced infer(const SampleContext& sample) const {
    const Tensor& input = sample.input(0);
    bool is_reduced[kMaxDims] = {};
    axes_.mark(input, is_reduced);
    Reduced reduced;
    reduced.type = self().type(input.type);
    reduced.shape = axes_.output_shape(input, is_reduced);
    reduced.layout = axes_.output_layout(input, is_reduced);
    reduced.plan = plan_reduction(input.shape, is_reduced);
    self().check(sample, reduced);
    if (self().is_constant(reduced)) {
      Tensor output;
      uint64_t bits = 0;
      output.type = reduced.type;
      output.data = &bits;
      self().write_constant(reduced, output);
      reduced.constant = {bits};
    }
    return reduced;
  }

  void run(SampleContext& sample) const override {
    const Reduced reduced = infer(sample);
    Tensor& output = *sample.output(reduced);
    if (reduced.plan.num_outputs == 0) return;
    if (reduced.constant.empty())
      self().reduce(reduced, sample, output);
    else
      fill_elements(output.data, output.num_elements(), size_of(output.type), reduced.constant[0]);
  }

  void add(const Reduced& reduced, TaskData& data, Tasks& tasks) const {
    if (reduced.constant.empty()) {
      FoldTask task = self().fold(reduced, data);
      task.output = data.output().data;
      task.output_type = reduced.type;
      tasks.folds.add(task, data);
      return;
    }
    Gather gather;
    gather.in = data.array(reduced.constant);
    gather.out = data.output().data;
    gather.element_bytes = size_of(reduced.type);
    gather.extents = reduced.shape;
    tasks.constants.add(gather);
  }

  static void check(const SampleContext&, const Reduced&) {}
  static bool is_constant(const Reduced& reduced) { return reduced.plan.num_terms == 0; }

 protected:
  using TaskOperator<Self>::self;

  ReducedAxes axes_;
};

// sum, mean, mean_square and rms.
class SumReduction : public Reduction<SumReduction> {
 public:
  explicit SumReduction(const OperatorConfig& config)
      : Reduction(config),
        fold_(config.get<bool>("squares") ? Fold::kSquares : Fold::kSum),
        finish_(finish_in(config)),
        dtype_(config.get_or<DataType>("dtype", DataType::kNone)) {}

  DataType type(DataType input) const {
    if (dtype_ != DataType::kNone) return dtype_;
    if (input == DataType::kFloat64) return input;
    if (finish_ != Finish::kSum || is_float_type(input)) return DataType::kFloat;
    return is_signed_integer(input) ? DataType::kInt64 : DataType::kUInt64;
  }

  void write_constant(const Reduced&, Tensor& output) const {
    const uint64_t sum = 0;
    const double in_doubles = 0;
    if (is_float_type(output.type))
      write_doubles(&in_doubles, 0, finish_, output);
    else
      write_integers(&sum, false, 0, finish_, output);
  }

  void reduce(const Reduced& reduced, SampleContext& sample, Tensor& output) const {
    const Tensor& input = sample.input(0);
    const ReductionPlan& plan = reduced.plan;
    // Doubles hold the sums of short runs, too, and become floats sooner.
    const bool in_doubles = plan.runs && is_float_type(output.type);
    if (is_exact(input.type, output.type) && !in_doubles) {
      uint64_t* sums = sample.scratch<uint64_t>(kSums, plan.num_outputs);
      reduce_to_integers(plan, fold_, input, sums);
      write_integers(sums, is_signed(input.type), plan.num_terms, finish_, output);
    } else {
      double* sums = sample.scratch<double>(kSums, plan.num_outputs);
      reduce_to_doubles(plan, fold_, input, nullptr, false, sums);
      write_doubles(sums, static_cast<double>(plan.num_terms), finish_, output);
    }
  }

  FoldTask fold(const Reduced& reduced, TaskData& data) const {
    const Tensor input = data.input();
    const bool in_doubles =
        reduced.plan.runs && is_float_type(reduced.type) &&
        !is_exact_in_doubles(input.type, reduced.plan.num_terms, fold_ == Fold::kSquares);
    const SumType sum_type = in_doubles || !is_exact(input.type, reduced.type) ? SumType::kDouble
                             : is_signed(input.type)                           ? SumType::kSigned
                                                                               : SumType::kUnsigned;
    FoldTask task = fold_task(reduced.plan, fold_, sum_type, input);
    task.finish = finish_;
    task.divisor = static_cast<double>(reduced.plan.num_terms);
    return task;
  }

 private:
  bool is_signed(DataType input) const { return fold_ == Fold::kSum && is_signed_integer(input); }

  // Whether 64 bits hold the sum, or the output is an integer and takes the bits that it can hold.
  bool is_exact(DataType input, DataType output) const {
    if (is_float_type(input)) return false;
    return !is_float_type(output) || size_of(input) <= (fold_ == Fold::kSquares ? 2 : 4);
  }

  Fold fold_;
  Finish finish_;
  DataType dtype_;
};

// min and max.
class ExtremeReduction : public Reduction<ExtremeReduction> {
 public:
  explicit ExtremeReduction(const OperatorConfig& config)
      : Reduction(config), fold_(config.get<bool>("least") ? Fold::kMin : Fold::kMax) {}

  static DataType type(DataType input) { return input; }

  void write_constant(const Reduced&, Tensor& output) const {
    visit_type(output.type, [&](auto zero) {
      using T = decltype(zero);
      using Number = std::conditional_t<std::is_same_v<T, Half>, float, T>;
      using Limits = std::numeric_limits<Number>;
      T limit = convert<T>(fold_ == Fold::kMin ? Limits::max() : Limits::lowest());
      // The largest halves, rather than what is beyond them.
      if constexpr (std::is_same_v<T, Half>) limit = Half{static_cast<uint16_t>(limit.bits - 1)};
      *output.as<T>() = limit;
    });
  }

  void reduce(const Reduced& reduced, SampleContext& sample, Tensor& output) const {
    const Tensor& input = sample.input(0);
    const ReductionPlan& plan = reduced.plan;
    if (input.type != DataType::kFloat16) {
      reduce_to_extremes(plan, fold_, input, output.data);
      return;
    }
    const int64_t count = input.num_elements();
    float* values = sample.scratch<float>(kMeans, count);
    for (int64_t i = 0; i < count; ++i) values[i] = to_float(input.as<Half>()[i]);
    float* extremes = sample.scratch<float>(kSums, plan.num_outputs);
    Tensor converted = input;
    converted.type = DataType::kFloat;
    converted.data = values;
    reduce_to_extremes(plan, fold_, converted, extremes);
    for (int64_t i = 0; i < plan.num_outputs; ++i) output.as<Half>()[i] = to_half(extremes[i]);
  }

  FoldTask fold(const Reduced& reduced, TaskData& data) const {
    const Tensor input = data.input();
    const bool is_float = is_float_type(input.type);
    constexpr uint64_t kHighest = uint64_t{1} << 63;
    FoldTask task =
        fold_task(reduced.plan, fold_, is_float ? SumType::kDouble : SumType::kUnsigned, input);
    if (fold_ == Fold::kMax) task.mask = is_float ? kHighest : ~uint64_t{0};
    if (input.type == DataType::kUInt64) task.mask ^= kHighest;
    return task;
  }

 private:
  Fold fold_;
};

// variance and std_dev.
class DeviationReduction : public Reduction<DeviationReduction> {
 public:
  explicit DeviationReduction(const OperatorConfig& config)
      : Reduction(config), finish_(finish_in(config)), ddof_(config.get<int64_t>("ddof")) {}

  static DataType type(DataType input) {
    return input == DataType::kFloat64 ? input : DataType::kFloat;
  }

  static void check(const SampleContext& sample, const Reduced& reduced) {
    const Tensor& mean = sample.input(1);
    const int64_t num_means = mean.num_elements();
    if (num_means != 1 && num_means != reduced.plan.num_outputs)
      throw std::invalid_argument("the mean must be one number, or one for each of the " +
                                  std::to_string(reduced.plan.num_outputs) +
                                  " outputs (got shape " + to_string(mean.shape) +
                                  "). Reduce the same axes for the mean.");
  }

  // Where nothing is reduced, a number is its own mean.
  bool is_constant(const Reduced& reduced) const {
    return reduced.plan.num_terms == 0 || axes_.none();
  }

  void write_constant(const Reduced& reduced, Tensor& output) const {
    const double sum = 0;
    write_doubles(&sum, divisor(reduced), finish_, output);
  }

  void reduce(const Reduced& reduced, SampleContext& sample, Tensor& output) const {
    const Tensor& mean = sample.input(1);
    const int64_t num_means = mean.num_elements();
    double* sums = sample.scratch<double>(kSums, reduced.plan.num_outputs);
    double* means = sample.scratch<double>(kMeans, num_means);
    visit_type(mean.type, [&](auto zero) {
      for (int64_t i = 0; i < num_means; ++i)
        means[i] = convert<double>(mean.as<decltype(zero)>()[i]);
    });
    OutputStatistics(reduced.plan, sample.input(0)).squared_deviations(means, num_means == 1, sums);
    write_doubles(sums, divisor(reduced), finish_, output);
  }

  FoldTask fold(const Reduced& reduced, TaskData& data) const {
    const Tensor input = data.input();
    const Tensor mean = data.input(1);
    FoldTask task = deviations_task(reduced.plan, input);
    task.means = mean.data;
    task.mean_type = mean.type;
    task.one_mean = mean.num_elements() == 1;
    task.finish = finish_;
    task.divisor = divisor(reduced);
    return task;
  }

 private:
  double divisor(const Reduced& reduced) const {
    return static_cast<double>(axes_.none() ? 1 : reduced.plan.num_terms - ddof_);
  }

  Finish finish_;
  int64_t ddof_;
};

DALI_CORE_REGISTER_OPERATOR("reductions.sum", SumReduction)
DALI_CORE_REGISTER_OPERATOR("reductions.max", ExtremeReduction)
DALI_CORE_REGISTER_OPERATOR("reductions.variance", DeviationReduction)

}  // namespace dali_core
