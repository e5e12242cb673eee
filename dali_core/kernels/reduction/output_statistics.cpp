#include "dali_core/kernels/reduction/output_statistics.hpp"

#include "dali_core/kernels/reduction/reduction_rules.hpp"

namespace dali_core {

OutputStatistics::OutputStatistics(const ReductionPlan& plan, const Tensor& input)
    : plan_(plan), input_(input), is_exact_(has_exact_deviations(plan, input.type)) {}

const std::vector<uint64_t>& OutputStatistics::exact_sums() {
  if (sums_.empty()) {
    sums_.resize(static_cast<size_t>(plan_.num_outputs));
    reduce_to_integers(plan_, Fold::kSum, input_, sums_.data());
  }
  return sums_;
}

void OutputStatistics::means(double* out) {
  if (is_exact_) {
    const std::vector<uint64_t>& sums = exact_sums();
    for (int64_t i = 0; i < plan_.num_outputs; ++i)
      out[i] = static_cast<double>(static_cast<int64_t>(sums[static_cast<size_t>(i)]));
  } else {
    reduce_to_doubles(plan_, Fold::kSum, input_, nullptr, false, out);
  }
  for (int64_t i = 0; i < plan_.num_outputs; ++i) out[i] /= static_cast<double>(plan_.num_terms);
}

void OutputStatistics::squared_deviations(const double* mean, bool one_mean, double* out) {
  if (!is_exact_) {
    reduce_to_doubles(plan_, Fold::kDeviations, input_, mean, one_mean, out);
    return;
  }
  const std::vector<uint64_t>& sums = exact_sums();
  std::vector<uint64_t> squares(sums.size());
  reduce_to_integers(plan_, Fold::kSquares, input_, squares.data());
  const IntegerLimits limits(input_.type);
  for (size_t i = 0; i < sums.size(); ++i)
    out[i] = dali_core::squared_deviations(sums[i], squares[i], plan_.num_terms,
                                           mean[one_mean ? 0 : i], limits);
}

}  // namespace dali_core
