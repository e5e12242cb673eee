// fn.normalize: factors from statistics, and elements from factors.
#include "dali_core/device_groups.hpp"
#include "dali_core/kernels/statistics/normalize.hpp"
#include "dali_core/kernels/statistics/normalize_task.hpp"

namespace dali_core {

// Where an element is in its run, and the first entry of that.
struct RunPlace {
  int64_t place;
  int64_t entry;

  inline __device__ RunPlace(const NormalizeTask& task, int64_t element) {
    int64_t number = quotient(element, task.run);
    place = element - number * task.run.divisor;
    entry = 0;
    int64_t entries = task.period.divisor;
#pragma unroll 1
    for (int i = task.num_dims - 1; i >= 0; --i) {
      const int64_t outer = quotient(number, task.extents[i]);
      if (!task.is_reduced[i]) {
        entry += (number - outer * task.extents[i].divisor) * entries;
        entries *= task.extents[i].divisor;
      }
      number = outer;
    }
  }

  // The factors of the element itself.
  inline __device__ NormalizeFactors factors(const NormalizeTask& task) const {
    return task.factors[entry + place - quotient(place, task.period) * task.period.divisor];
  }
};

// The factors of four elements, the first of which is `first`.
inline __device__ void find_factors_of(const NormalizeTask& task, int64_t first,
                                       NormalizeFactors (&factors)[kGroup]) {
  const RunPlace run(task, first);
  const int64_t period = task.period.divisor;
  int64_t step = run.place - quotient(run.place, task.period) * period;
  if (run.place + kGroup <= task.run.divisor) {
#pragma unroll
    for (int i = 0; i < kGroup; ++i) {
      factors[i] = task.factors[run.entry + step];
      step = step + 1 == period ? 0 : step + 1;
    }
  } else {
#pragma unroll 1
    for (int i = 0; i < kGroup; ++i) {
      const NormalizeFactors found = RunPlace(task, first + i).factors(task);
#pragma unroll
      for (int k = 0; k < kGroup; ++k)
        if (k == i) factors[k] = found;
    }
  }
}

template <typename From, typename To>
inline __device__ void normalize_groups(const NormalizeTask& task) {
  const From* const in = static_cast<const From*>(task.in);
  To* const out = static_cast<To*>(task.out);
  const bool is_aligned = is_group_aligned<From>(in, group_lead(out, sizeof(To)));
  const GroupRange range(out, sizeof(To), task.count, is_aligned);
  const int64_t behind = range.ahead + range.count * kGroup;
  for (int64_t i = first_item(); i < range.ahead + task.count - behind; i += item_step()) {
    const int64_t number = i < range.ahead ? i : behind + i - range.ahead;
    const NormalizeFactors factors = RunPlace(task, number).factors(task);
    out[number] = convert<To>(
        normalized(convert<float>(in[number]), factors.mean, factors.multiplier, task.shift));
  }
#pragma unroll 1
  for (int64_t group = first_item(); group < range.count; group += item_step()) {
    const int64_t first = range.ahead + group * kGroup;
    float values[kGroup];
    if (is_aligned)
      load_whole<true>(in + first).to_floats(values);
    else
      load_whole<false>(in + first).to_floats(values);
    NormalizeFactors factors[kGroup];
    find_factors_of(task, first, factors);
#pragma unroll
    for (int i = 0; i < kGroup; ++i)
      values[i] = normalized(values[i], factors[i].mean, factors[i].multiplier, task.shift);
    store_whole(out + first, convert_group<To>(values));
  }
}

}  // namespace dali_core

// Types that are not usual go element by element.
extern "C" __global__ void __launch_bounds__(256, 4)
    normalize_elements(const dali_core::NormalizeTask* tasks, int count) {
  using namespace dali_core;
  if (sample_of_block() >= count) return;
  const NormalizeTask& task = tasks[sample_of_block()];
  const bool is_usual = with_usual_types(task.from, task.to, [&](auto from, auto to) {
    normalize_groups<decltype(from), decltype(to)>(task);
  });
  if (is_usual) return;
  for (int64_t i = first_item(); i < task.count; i += item_step()) {
    const NormalizeFactors factors = RunPlace(task, i).factors(task);
    store_element(task.out, i, task.to,
                  normalized(load_element(task.in, i, task.from), factors.mean, factors.multiplier,
                             task.shift));
  }
}

extern "C" __global__ void find_factors(const dali_core::FactorsTask* tasks, int count) {
  using namespace dali_core;
  if (sample_of_block() >= count) return;
  const FactorsTask& task = tasks[sample_of_block()];
  const double* const batch = task.statistics;
  for (int64_t i = first_item(); i < task.size; i += item_step()) {
    double mean;
    if (task.given_means != nullptr)
      mean = task.given_means[task.one_mean ? 0 : i];
    else
      mean = batch != nullptr ? batch[task.size + i] : task.means[i];
    float multiplier;
    if (task.given_multipliers != nullptr) {
      multiplier = task.given_multipliers[task.one_multiplier ? 0 : i];
    } else {
      double squares = 0;
      double elements = task.count;
      if (batch != nullptr) {
        elements = batch[0];
        squares = batch_squares(elements, batch[task.size + i], batch[2 * task.size + i], mean);
      } else {
        squares = task.squares[i];
      }
      multiplier =
          multiplier_of(variance_of(squares, elements, task.ddof), task.epsilon, task.scale);
    }
    task.factors[i] = {static_cast<float>(mean), multiplier};
  }
}

// A thread for each entry, which takes samples in their order.
extern "C" __global__ void join_statistics(const dali_core::JoinStatisticsTask* tasks, int count) {
  using namespace dali_core;
  if (sample_of_block() >= count) return;
  const JoinStatisticsTask& task = tasks[sample_of_block()];
  for (int64_t i = first_item(); i < task.size; i += item_step())
    join_statistics_of(task.parts, task.num_parts, task.size, i, task.out);
}
