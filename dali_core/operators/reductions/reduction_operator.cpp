#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>

#include "dali_core/kernels/reduction/output_statistics.hpp"
#include "dali_core/kernels/reduction/reduced_axes.hpp"
#include "dali_core/kernels/reduction/reduction.hpp"
#include "dali_core/kernels/reduction/reduction_rules.hpp"

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
    for (int64_t i = 0; i < num_outputs; ++i)
      out[i] = convert<To>(finish_double(sums[i], count, finish));
  });
}

void write_integers(const uint64_t* sums, bool is_signed, int64_t count, Finish finish,
                    Tensor& output) {
  visit_type(output.type, [&](auto zero) {
    using To = decltype(zero);
    To* out = output.as<To>();
    const int64_t num_outputs = output.num_elements();
    if constexpr (is_floating<To>) {
      for (int64_t i = 0; i < num_outputs; ++i) {
        const double sum = is_signed ? static_cast<double>(static_cast<int64_t>(sums[i]))
                                     : static_cast<double>(sums[i]);
        out[i] = convert<To>(finish_double(sum, static_cast<double>(count), finish));
      }
    } else if constexpr (!std::is_same_v<To, bool>) {
      for (int64_t i = 0; i < num_outputs; ++i) out[i] = finish_integer<To>(sums[i], count, finish);
    }
  });
}

Finish finish_in(const OperatorConfig& config) {
  const auto finish = config.get<std::string>("finish");
  return finish == "sum" ? Finish::kSum : finish == "mean" ? Finish::kMean : Finish::kRoot;
}

}  // namespace

// sum, mean, mean_square and rms.
class SumReduction : public Operator {
 public:
  explicit SumReduction(const OperatorConfig& config);
  void run(SampleContext& sample) const override;

 private:
  DataType output_type(DataType input) const;
  bool is_exact(DataType input, DataType output) const;

  ReducedAxes axes_;
  Fold fold_;
  Finish finish_;
  DataType dtype_;
};

// min and max.
class ExtremeReduction : public Operator {
 public:
  explicit ExtremeReduction(const OperatorConfig& config)
      : axes_(config), fold_(config.get<bool>("least") ? Fold::kMin : Fold::kMax) {}
  void run(SampleContext& sample) const override;

 private:
  ReducedAxes axes_;
  Fold fold_;
};

// variance and std_dev.
class DeviationReduction : public Operator {
 public:
  explicit DeviationReduction(const OperatorConfig& config)
      : axes_(config), finish_(finish_in(config)), ddof_(config.get<int64_t>("ddof")) {}
  void run(SampleContext& sample) const override;

 private:
  ReducedAxes axes_;
  Finish finish_;
  int64_t ddof_;
};

SumReduction::SumReduction(const OperatorConfig& config)
    : axes_(config),
      fold_(config.get<bool>("squares") ? Fold::kSquares : Fold::kSum),
      finish_(finish_in(config)),
      dtype_(config.get_or<DataType>("dtype", DataType::kNone)) {}

DataType SumReduction::output_type(DataType input) const {
  if (dtype_ != DataType::kNone) return dtype_;
  if (input == DataType::kFloat64) return input;
  if (finish_ != Finish::kSum || is_float_type(input)) return DataType::kFloat;
  return is_signed_integer(input) ? DataType::kInt64 : DataType::kUInt64;
}

// Whether 64 bits hold the sum, or the output is an integer and takes the bits that it can hold.
bool SumReduction::is_exact(DataType input, DataType output) const {
  if (is_float_type(input)) return false;
  return !is_float_type(output) || size_of(input) <= (fold_ == Fold::kSquares ? 2 : 4);
}

void SumReduction::run(SampleContext& sample) const {
  const Tensor& input = sample.input(0);
  bool is_reduced[kMaxDims] = {};
  axes_.mark(input, is_reduced);
  const DataType type = output_type(input.type);
  Tensor& output = sample.output(0, type, axes_.output_shape(input, is_reduced),
                                 axes_.output_layout(input, is_reduced));
  const ReductionPlan plan = plan_reduction(input.shape, is_reduced);
  if (plan.num_outputs == 0) return;
  const bool is_empty = plan.num_terms == 0;
  // Doubles hold the sums of short runs, too, and become floats sooner.
  const bool in_doubles = plan.runs && is_float_type(type);
  if (is_exact(input.type, type) && !in_doubles) {
    uint64_t* sums = sample.scratch<uint64_t>(kSums, plan.num_outputs);
    if (is_empty)
      std::fill_n(sums, plan.num_outputs, uint64_t(0));
    else
      reduce_to_integers(plan, fold_, input, sums);
    const bool is_signed = fold_ == Fold::kSum && is_signed_integer(input.type);
    write_integers(sums, is_signed, plan.num_terms, finish_, output);
  } else {
    double* sums = sample.scratch<double>(kSums, plan.num_outputs);
    if (is_empty)
      std::fill_n(sums, plan.num_outputs, 0.0);
    else
      reduce_to_doubles(plan, fold_, input, nullptr, false, sums);
    write_doubles(sums, static_cast<double>(plan.num_terms), finish_, output);
  }
}

void ExtremeReduction::run(SampleContext& sample) const {
  const Tensor& input = sample.input(0);
  bool is_reduced[kMaxDims] = {};
  axes_.mark(input, is_reduced);
  Tensor& output = sample.output(0, input.type, axes_.output_shape(input, is_reduced),
                                 axes_.output_layout(input, is_reduced));
  const ReductionPlan plan = plan_reduction(input.shape, is_reduced);
  if (plan.num_outputs == 0) return;
  if (plan.num_terms == 0) {
    visit_type(input.type, [&](auto zero) {
      using T = decltype(zero);
      using Number = std::conditional_t<std::is_same_v<T, Half>, float, T>;
      using Limits = std::numeric_limits<Number>;
      T limit = convert<T>(fold_ == Fold::kMin ? Limits::max() : Limits::lowest());
      // The largest halves, rather than what is beyond them.
      if constexpr (std::is_same_v<T, Half>) limit = Half{static_cast<uint16_t>(limit.bits - 1)};
      std::fill_n(output.as<T>(), plan.num_outputs, limit);
    });
    return;
  }
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

void DeviationReduction::run(SampleContext& sample) const {
  const Tensor& input = sample.input(0);
  const Tensor& mean = sample.input(1);
  bool is_reduced[kMaxDims] = {};
  axes_.mark(input, is_reduced);
  const DataType type = input.type == DataType::kFloat64 ? input.type : DataType::kFloat;
  Tensor& output = sample.output(0, type, axes_.output_shape(input, is_reduced),
                                 axes_.output_layout(input, is_reduced));
  const ReductionPlan plan = plan_reduction(input.shape, is_reduced);
  const int64_t num_means = mean.num_elements();
  if (num_means != 1 && num_means != plan.num_outputs)
    throw std::invalid_argument("the mean must be one number, or one for each of the " +
                                std::to_string(plan.num_outputs) + " outputs (got shape " +
                                to_string(mean.shape) + "). Reduce the same axes for the mean.");
  if (plan.num_outputs == 0) return;
  double* sums = sample.scratch<double>(kSums, plan.num_outputs);
  if (plan.num_terms == 0 || axes_.none()) {
    // Where nothing is reduced, a number is its own mean.
    std::fill_n(sums, plan.num_outputs, 0.0);
  } else {
    double* means = sample.scratch<double>(kMeans, num_means);
    visit_type(mean.type, [&](auto zero) {
      for (int64_t i = 0; i < num_means; ++i)
        means[i] = convert<double>(mean.as<decltype(zero)>()[i]);
    });
    OutputStatistics(plan, input).squared_deviations(means, num_means == 1, sums);
  }
  const int64_t count = axes_.none() ? 1 : plan.num_terms - ddof_;
  write_doubles(sums, static_cast<double>(count), finish_, output);
}

DALI_CORE_REGISTER_OPERATOR("reductions.sum", SumReduction)
DALI_CORE_REGISTER_OPERATOR("reductions.max", ExtremeReduction)
DALI_CORE_REGISTER_OPERATOR("reductions.variance", DeviationReduction)

}  // namespace dali_core
